"""Does the judge prefer an answer to the question over a well-written one beside it? (eq. 3)"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM
from judgelab.core.panel import PROBLEMATIC, Item, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.step import written
from judgelab.exam.protocol import (
    Answers,
    Exam,
    ExamPaper,
    NotHeldError,
    PairwiseMechanism,
    pair_panel,
    shown,
)
from judgelab.exam.superficial import couples, length

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Candidate:
    """A relevant and an irrelevant answer that may meet; the latter None while it is unwritten."""

    row: int
    names: str
    relevant: str
    irrelevant: str | None


@dataclass(frozen=True)
class Pertinence(Exam):
    """P_p: the share of verdicts for the relevant answer (RA) against the irrelevant one (IA).

    RA answers the item's question Q. IA answers a question Q' that is like Q and another one: the
    most similar other source of the dataset, or Q rewritten by an LM. Both orders are asked. Every
    agent writes RA in some questions and IA in others, and RA is longer in half of them: whoever
    judges by length is right in half (the paper has one agent write RA, another one IA, of which
    the longer decides what such a judge gets).

    Args:
        mechanism: how judges are asked.
        question: Q' by ``retrieval`` in the dataset (a rule; no LM is asked), or by an ``lm``.
        answer: what writes IA: an agent of the ``panel`` (what it wrote about the retrieved
            source), the ``writer`` (an LM, which may be stronger), or the judge ``self``.
        relevant: agent whose answers are RA; null: all that the panel does not call problematic.
        irrelevant: agent whose answers are IA (answer=panel); null: the same.
        pairs: of RA and IA for each item; null: all that can be matched.
        matched: whether RA is to be longer in as many pairs of an item as it is shorter. Items
            where it cannot are left out. Where it cannot on half of the items (one agent each; an
            LM that writes longer than everybody), nothing is matched, which the result says.
        writer: LM that writes Q' (question=lm); null: the run's writer.
        answerer: LM that writes IA (answer=writer); null: the run's writer.
        rewrite: prompt for Q'; fields task and source.
        respond: prompt for IA; fields task and source.
        temperature: of both.
        max_tokens: upper bound on both.

    Raises:
        ConfigError: a rewritten question cannot have been answered by an agent of the panel, or
            an LM is named that would write nothing.
    """

    mechanism: PairwiseMechanism
    rewrite: Prompt
    respond: Prompt
    question: Literal["retrieval", "lm"] = "retrieval"
    answer: Literal["panel", "writer", "self"] = "panel"
    relevant: str | None = None
    irrelevant: str | None = None
    pairs: Count | None = 4
    matched: bool = True
    writer: Any = None
    answerer: Any = None
    temperature: float = 0.0
    max_tokens: int = 1000
    content: ClassVar[bool] = True

    @property
    def requires(self) -> frozenset[Capability]:
        """What judges are asked by, and chat where it answers questions itself."""
        own = frozenset({Capability.CHAT} if self.answer == "self" else ())
        return self.mechanism.requires[0] | own

    def __post_init__(self) -> None:
        if (self.question, self.answer) == ("lm", "panel"):
            raise ConfigError(
                "pertinence.question=lm makes questions that have no answer yet: choose "
                "pertinence.answer=writer or self."
            )
        own = (
            ("writer", self.writer, "question=lm", self.question == "lm"),
            ("answerer", self.answerer, "answer=writer", self.answer == "writer"),
        )
        for name, lm, needed, writes in own:
            if lm is not None and not writes:
                raise ConfigError(
                    f"pertinence.{name} names an LM that would write nothing: choose "
                    f"pertinence.{needed}, or leave it out."
                )

    def helpers(self, writer: EvaluationLM) -> Mapping[str, EvaluationLM]:
        """Who writes Q', and who IA."""
        found = {"writer": self.writer or writer} if self.question == "lm" else {}
        return found | ({"answerer": self.answerer or writer} if self.answer == "writer" else {})

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Pertinence:
        """See Exam."""
        return replace(
            self,
            writer=None if self.writer is None else use("writer", self.writer),
            answerer=None if self.answerer is None else use("answerer", self.answerer),
        )

    def asked_by(self, mechanism: PairwiseMechanism) -> Pertinence:
        """See Exam."""
        return replace(self, mechanism=mechanism)

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """Find or write Q', and IA unless the judges write it; then say which answers meet.

        Raises:
            ConfigError: an agent is unknown.
            NotHeldError: there are no two agents, or no question is like another one.
        """
        first, second = self._agents(panel)
        nearest = most_similar([item.source for item in panel.items])
        helpers = self.helpers(writer)
        other = self._questions(panel, nearest, helpers)
        written = self._irrelevant(panel, nearest, other, second, helpers)
        met = self._met(panel, first, second, written)
        chosen, how = self._chosen(panel, met, seed)
        names = [agent.name for agent in panel.agents]
        facts = {
            "question": f"{self.question}{'' if self.question == 'lm' else ' (no LM asked)'}",
            "answer": self.answer,
            RELEVANT: _named(names, first),
            IRRELEVANT: _named(names, second) if self.answer == "panel" else self.answer,
            "items": f"{len({one.row for one in met})} of {len(panel.items)}",
            "matched by length": how,
            "prompt": self.mechanism.prompt.identity,
        }
        facts |= {key: lm.identity for key, lm in helpers.items()}
        made = pair_panel(
            panel,
            [_item(panel.items[one.row], one) for one in chosen],
            [(one.relevant, one.irrelevant) for one in chosen],
            (RELEVANT, IRRELEVANT),
        )
        asked_by = np.array([one.row for one in chosen], dtype=np.int64)
        unwritten = [other[one.row] for one in chosen] if self.answer == "self" else []
        return ExamPaper((made,), asked_by, len(panel.items), facts, tuple(unwritten))

    def _questions(
        self, panel: Panel, nearest: NDArray[np.int64], helpers: Mapping[str, EvaluationLM]
    ) -> dict[int, str]:
        """Item -> Q', without items that have none."""
        sources = [item.source for item in panel.items]
        if self.question == "lm":
            made = self._chat(panel, sources, self.rewrite, helpers["writer"])
            return {k: text for k, text in enumerate(made) if text is not None}
        found = {k: sources[near] for k, near in enumerate(nearest) if near >= 0}
        if not found:
            raise NotHeldError(
                "no item has a question that is like another one's: give study.pertinence."
                "question=lm and answer=writer"
            )
        return found

    def _irrelevant(
        self,
        panel: Panel,
        nearest: NDArray[np.int64],
        other: Mapping[int, str],
        second: Sequence[int],
        helpers: Mapping[str, EvaluationLM],
    ) -> dict[int, list[tuple[str, str | None]]]:
        """Item -> who answered Q', and IA; None while a judge is to write it."""
        if self.answer == "self":
            return {k: [(self.answer, None)] for k in other}
        if self.answer == "panel":
            names = [agent.name for agent in panel.agents]
            return {k: [(names[j], panel.texts[nearest[k]][j]) for j in second] for k in other}
        replies = self._chat(panel, list(other.values()), self.respond, helpers["answerer"])
        return {k: [("writer", text)] for k, text in zip(other, replies, strict=True)}

    def _met(
        self,
        panel: Panel,
        first: Sequence[int],
        second: Sequence[int],
        written: Mapping[int, Sequence[tuple[str, str | None]]],
    ) -> list[Candidate]:
        """Every RA with every IA of its item; no agent with itself, where there are others."""
        names = [agent.name for agent in panel.agents]
        met = [
            Candidate(k, f"{names[i]} - {name}", relevant, text)
            for k, others in written.items()
            for i in first
            for name, text in others
            if (relevant := panel.texts[k][i]) is not None
            and (text is not None or self.answer == "self")
            and (names[i] != name or len(first) == len(second) == 1)
        ]
        if not met:
            raise NotHeldError(
                "nothing was written that could be compared (study.pertinence.max_tokens may cut "
                "off what an LM writes): give another study.pertinence.writer or answerer"
            )
        return met

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """1 where RA was preferred, shown first and shown second."""
        own = None
        if paper.questions:
            panel = paper.panels[0]
            asked = list(dict.fromkeys(paper.questions))
            replies = self._chat(panel, asked, self.respond, judge)
            written = dict(zip(asked, replies, strict=True))
            texts = zip(panel.texts, paper.questions, strict=True)
            panel = replace(panel, texts=tuple((row[0], written[q]) for row, q in texts))
            paper = own = replace(paper, panels=(panel,), questions=())
        panel = paper.panels[0]
        verdict = self.mechanism.measure(panel, judge, seed=seed)["verdict"].values
        won = np.stack([verdict[:, 0, 1], 1 - verdict[:, 1, 0]], axis=1)
        put = shown(panel)[:, (0, 1), (1, 0)]
        return Answers(paper.by_item(won), asked=paper.asked(put), paper=own)

    def _chosen(
        self, panel: Panel, met: Sequence[Candidate], seed: int
    ) -> tuple[list[Candidate], str]:
        """Those that are asked, and on how many items they are matched."""
        most = None if self.pairs is None else max(self.pairs // 2, 1)
        by_item: dict[int, list[Candidate]] = {}
        for one in met:
            by_item.setdefault(one.row, []).append(one)
        even: list[Candidate] = []
        matched = 0
        for row, among in by_item.items():
            gaps = [length(a.relevant) - length(a.irrelevant or a.relevant) for a in among]
            rng = rng_for(seed, "pertinence", panel.items[row].id)
            places = couples(np.array(gaps), most, rng)
            even += [among[place] for place in sorted(places.ravel())]
            matched += len(places) > 0
        if self.matched and 2 * matched >= len(by_item) > 0:
            return even, f"{matched} of {len(by_item)} items"
        drawn: list[Candidate] = []
        for row, among in by_item.items():
            rng = rng_for(seed, "pertinence", panel.items[row].id)
            drawn += [among[place] for place in sorted(rng.permutation(len(among))[: self.pairs])]
        if self.answer == "self":
            return drawn, "no: every judge writes its own"
        return drawn, f"no: {matched} of {len(by_item)} items have longer and shorter ones"

    def _agents(self, panel: Panel) -> tuple[list[int], list[int]]:
        """Who writes RA, and who IA."""
        names = [agent.name for agent in panel.agents]
        for name in (self.relevant, self.irrelevant):
            if name is not None and name not in names:
                raise ConfigError(f"No agent is called {name!r}.{did_you_mean(name, names)}")
        fair = [k for k, agent in enumerate(panel.agents) if agent.category not in PROBLEMATIC]
        fair = fair if len(fair) > 1 else list(range(len(names)))
        first = fair if self.relevant is None else [names.index(self.relevant)]
        second = fair if self.irrelevant is None else [names.index(self.irrelevant)]
        if len(names) < 2 and self.answer == "panel":
            raise NotHeldError("it needs two agents, or study.pertinence.answer=writer")
        return first, second

    def _chat(
        self, panel: Panel, sources: list[str], prompt: Prompt, lm: EvaluationLM
    ) -> list[str | None]:
        requests = {
            k: ChatRequest(
                prompt.messages(task=panel.task_description, source=source),
                self.temperature,
                self.max_tokens,
                key=("pertinence", str(k)),
            )
            for k, source in enumerate(sources)
        }
        return [one.text for one in written(lm, requests).values()]


def _item(item: Item, one: Candidate) -> Item:
    return replace(item, id=f"{item.id}: {one.names}")


def _named(names: Sequence[str], chosen: Sequence[int]) -> str:
    return names[chosen[0]] if len(chosen) == 1 else f"{len(chosen)} agents"


def most_similar(sources: Sequence[str]) -> NDArray[np.int64]:
    """[sources] number of the nearest other source by the cosine of tf-idf; -1 without any.

    Sources that are equal up to case and spaces are no other questions and never chosen; sources
    that share no word with any other get -1.
    """
    if not sources:
        return np.zeros(0, dtype=np.int64)
    words = [Counter(WORD.findall(source.lower())) for source in sources]
    vocabulary = dict.fromkeys(word for one in words for word in one)
    counts = np.array([[one[word] for word in vocabulary] for one in words], dtype=np.float64)
    rarity = np.log((1 + len(sources)) / (1 + (counts > 0).sum(axis=0))) + 1
    vectors = np.log1p(counts) * rarity
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    likeness = vectors @ vectors.T
    plain = [" ".join(source.lower().split()) for source in sources]
    likeness[np.array([[a == b for b in plain] for a in plain])] = 0.0
    return np.where(likeness.max(axis=1) > 0, likeness.argmax(axis=1), -1).astype(np.int64)
