"""Is the judge surer of easy comparisons than of hard ones? (equation 4)"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judgelab.calls.log import shares
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import (
    WITHOUT_PROBABILITIES,
    Capability,
    ChatRequest,
    EvaluationLM,
    Exchange,
    Reply,
)
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply import read_choice
from judgelab.core.reply.label import no_label
from judgelab.core.scores import array_of
from judgelab.exam.protocol import (
    Answers,
    Exam,
    ExamPaper,
    NotHeldError,
    pair_panel,
    pairs_of,
    place_of,
)
from judgelab.mechanism.judge import CHOICES, Cell, PairMechanism, pair_questions
from judgelab.mechanism.pairwise import LABELS
from judgelab.stats.intervals.arrays import Floats

NAMED = tuple(label for label in CHOICES if label != "tie")

MAX_TOKENS = 500  # upper bound on a reply in words

SILENT = (
    "its replies show no probabilities of tokens (study.self_confidence.by=auto or words asks in "
    "words)"
)
"""Why a judge has not taken the exam, and so not failed it either."""


@dataclass(frozen=True)
class SelfConfidence(Exam):
    """P_s: 1 where mean confidence is higher on the easy set than on the hard one.

    The easy set compares two agents of very different, the hard set two of like quality; both
    orders are asked. Confidence is ln p of the label that the judge emitted (nats; among the
    allowed labels where it replies by labels), or the level that it names when asked in words.

    Raises:
        ConfigError: fewer than two levels, or a set that is no two agents.
    """

    mechanism: PairMechanism  # asks by probability
    words: Prompt  # asks in words: fields task, source, one, two and levels
    by: Literal["auto", "probability", "words"] = "auto"
    # least confident first
    levels: Sequence[str] = ("null", "low", "medium", "high", "expert")
    easy: Sequence[str] | None = None
    hard: Sequence[str] | None = None

    @property
    def requires(self) -> frozenset[Capability]:
        chat = frozenset({Capability.CHAT})
        return chat if self.by == "words" else self.mechanism.requires[0]

    def __post_init__(self) -> None:
        if len(set(self.levels)) < 2:
            raise ConfigError("self_confidence.levels needs at least two labels.")
        for name, agents in (("easy", self.easy), ("hard", self.hard)):
            if agents is not None and len(set(agents)) != 2:
                raise ConfigError(f"self_confidence.{name} must name two agents.")

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """The easy and the hard set. A ConfigError where an agent is unknown, a NotHeldError where
        none are named and the panel does not say which are far apart."""
        agents_of = {
            "easy": self._agents(panel, "easy", self.easy, ("Faithful", "Low Effort")),
            "hard": self._agents(panel, "hard", self.hard, ("Faithful", "Faithful")),
        }
        panels, facts = [], dict[str, str]()
        for name, (i, j) in agents_of.items():
            texts = [(row[i], row[j]) for row in panel.texts]
            agents = (panel.agents[i].name, panel.agents[j].name)
            panels.append(pair_panel(panel, list(panel.items), texts, agents))
            facts[name] = " and ".join(agents)
        return ExamPaper(tuple(panels), np.arange(len(panel.items)), len(panel.items), facts)

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """Confidence in every answer; not taken by a judge that replies without probabilities."""
        probable = None if self.by == "words" else self._by_probability(paper, judge)
        if probable is not None:
            return _answers(paper, probable, "probability")
        if self.by == "probability":
            unread = [np.full((len(one.items), 2), np.nan) for one in paper.panels]
            return replace(_answers(paper, unread, ""), absence=SILENT)
        return _answers(paper, [self._in_words(one, judge) for one in paper.panels], "words")

    def _by_probability(self, paper: ExamPaper, judge: EvaluationLM) -> list[Floats] | None:
        """None from a judge whose replies, on the first item or on all, show no probabilities."""
        panel = paper.panels[0]
        first = int(pairs_of(panel).any(axis=(1, 2)).argmax())
        one = slice(first, first + 1)
        alone = replace(panel, items=panel.items[one], texts=panel.texts[one])
        try:
            exchange = self.mechanism.ask(alone, judge, top_logprobs=5)
        except CapabilityError:  # an endpoint that ignores the field
            return None
        if _silent(exchange.replies.values()):
            return None
        exchanges = [self.mechanism.ask(each, judge, top_logprobs=5) for each in paper.panels]
        if _silent([reply for exchange in exchanges for reply in exchange.replies.values()]):
            return None
        return [
            _cells(each, exchange.read(lambda _, reply: label_nats(reply), _unsure))
            for each, exchange in zip(paper.panels, exchanges, strict=True)
        ]

    def _in_words(self, panel: Panel, lm: EvaluationLM) -> Floats:
        levels = ", ".join(f"`{level}`" for level in self.levels)
        requests = {}
        for cell, key, fields in pair_questions(panel, "self_confidence"):
            messages = self.words.messages(**fields, levels=levels)
            requests[cell] = ChatRequest(messages, self.mechanism.temperature, MAX_TOKENS, key=key)
        ranks = {level.lower(): place for place, level in enumerate(self.levels, start=1)}

        def rank(_: Cell, reply: Reply) -> float:
            return ranks.get(read_choice(reply.text, self.levels, "last") or "", np.nan)

        exchange = Exchange.ask(lm, requests)
        return _cells(panel, exchange.read(rank, lambda _, text: no_label(text, self.levels)))

    def _agents(
        self, panel: Panel, name: str, names: Sequence[str] | None, kinds: tuple[str, str]
    ) -> tuple[int, int]:
        if names is not None:
            first, second = (place_of(panel, one, f"self_confidence.{name}") for one in names)
            return first, second
        places: list[int] = []
        for kind in kinds:
            of_kind = [k for k, agent in enumerate(panel.agents) if agent.category == kind]
            places += [k for k in of_kind if k not in places and not panel.agents[k].reference][:1]
        if len(places) < 2:
            raise NotHeldError(
                f"no agents are known for the {name} set: give "
                f"study.self_confidence.{name}=[AGENT,AGENT]"
            )
        return places[0], places[1]


def _answers(paper: ExamPaper, sets: Sequence[Floats], way: str) -> Answers:
    """Of confidence on both sets; without a way nothing was asked."""
    easy, hard = (paper.by_item(values) for values in sets)
    masks = [paper.mask(pairs_of(panel)[:, (0, 1), (1, 0)] & bool(way)) for panel in paper.panels]
    return Answers(easy, masks[0], hard, masks[1], way=way)


def _unsure(_: Cell, text: str) -> str:
    """Why a reply has no confidence; of a tie there is none, which is nothing amiss."""
    label = read_choice(text, CHOICES, "last")
    if label is None:
        return no_label(text, CHOICES)
    return "" if label == "tie" else "no probability of its label"


def _silent(replies: Iterable[Reply]) -> bool:
    spoken = [r for r in replies if r.text is not None or r.reason == WITHOUT_PROBABILITIES]
    return bool(spoken) and not any(reply.top_logprobs or reply.label_logprobs for reply in spoken)


def _cells(panel: Panel, confidence: Mapping[Cell, float]) -> Floats:
    """[items, orders] by (item, first, second) of each question."""
    return array_of((len(panel.items), 2), {(k, i): one for (k, i, _), one in confidence.items()})


def label_nats(reply: Reply) -> float:
    """ln p of the last label that the reply emitted (the likeliest token, as at temperature 0), or
    of its label among the allowed ones; NaN without a label, or without probabilities."""
    if reply.text is not None and reply.label_logprobs:
        choice = LABELS[reply.text]
        share = max(shares(reply, LABELS)[choice], sys.float_info.min)
        return math.log(share) if choice in NAMED else np.nan
    for token in reversed(reply.top_logprobs):
        if token and token[0][0].strip().strip("`'\"*.").lower() in NAMED:
            return min(float(token[0][1]), 0.0)
    return np.nan
