"""Does the judge prefer an answer to the question over a well-written one beside it? (eq. 3)"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM
from judgelab.core.panel import PROBLEMATIC, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.step import write_texts
from judgelab.exam.protocol import (
    Answers,
    Exam,
    ExamPaper,
    NotHeldError,
    pair_panel,
    pairs_of,
    place_of,
)
from judgelab.mechanism.judge import PairMechanism
from judgelab.stats.intervals.arrays import Floats

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
WORD = re.compile(r"\w+")
MAX_TOKENS = 1000  # upper bound on what an LM writes, at temperature 0


class Candidate(NamedTuple):
    """A relevant and an irrelevant answer that may meet; the latter None while it is unwritten."""

    row: int  # number of its item
    id: str  # of the question: the item's, and who wrote which answer
    relevant: str
    irrelevant: str | None


@dataclass(frozen=True)
class Pertinence(Exam):
    """P_p: the share of verdicts for the relevant answer (RA) against the irrelevant one (IA).

    RA answers the item's question Q. IA answers a question Q' that is like Q and another one: the
    most similar other source of the dataset, or Q rewritten by an LM. Both orders are asked. Every
    agent writes RA in some questions and IA in others, and RA is longer in half of them: whoever
    judges by length is right in half (the paper has one agent write RA, another one IA, of which
    the longer decides what such a judge gets). Items where RA cannot be matched so are left out;
    where it cannot on half of the items (one agent each; an LM that writes longer than everybody),
    nothing is matched, which the result says.

    Raises:
        ConfigError: a rewritten question cannot have been answered by an agent of the panel.
    """

    mechanism: PairMechanism  # how judges are asked
    rewrite: Prompt  # for Q', and for IA: fields task and source
    respond: Prompt
    question: Literal["retrieval", "lm"] = "retrieval"
    answer: Literal["panel", "writer", "self"] = "panel"
    relevant: str | None = None
    irrelevant: str | None = None
    pairs: Count | None = 4

    def __post_init__(self) -> None:
        if (self.question, self.answer) == ("lm", "panel"):
            raise ConfigError(
                "pertinence.question=lm makes questions that have no answer yet: choose "
                "pertinence.answer=writer or self."
            )

    @property
    def requires(self) -> frozenset[Capability]:
        own = frozenset({Capability.CHAT} if self.answer == "self" else ())
        return self.mechanism.requires[0] | own

    @property
    def needs_writer(self) -> bool:
        return self.question == "lm" or self.answer == "writer"

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """Q', and IA unless the judges write it; and which answers meet. A ConfigError where an
        agent is unknown, a NotHeldError where there are no two answers to be compared."""
        names = [agent.name for agent in panel.agents]
        first, second = self._agents(panel)
        questions, answers = self._others(panel, writer, second)
        # every RA with every IA of its item; no agent with itself, where there are others
        met = [
            Candidate(k, f"{item.id}: {names[i]} - {name}", relevant, text)
            for k, item in enumerate(panel.items)
            for i in first
            for name, text in answers.get(item.id, ())
            if (relevant := panel.texts[k][i]) is not None
            and (text is not None or self.answer == "self")
            and (names[i] != name or len(first) == len(second) == 1 < len(names))
        ]
        if not met:
            raise NotHeldError(
                "nothing was written that could be compared, or no question is like another one: "
                "give study.pertinence.question=lm and answer=writer, or another writer_lm"
            )
        candidates, how = self._draw_candidates(panel, met, seed)
        facts = {
            "question": "lm" if self.question == "lm" else f"{self.question} (no LM asked)",
            "answer": self.answer,
            RELEVANT: _agent_names(names, first),
            IRRELEVANT: _agent_names(names, second) if self.answer == "panel" else self.answer,
            "items": f"{len({one.row for one in met})} of {len(panel.items)}",
            "matched by length": how,
            "prompt": self.mechanism.prompt.identity,
            **({"writer": writer.identity} if self.needs_writer else {}),
        }
        pairs = pair_panel(
            panel,
            [replace(panel.items[one.row], id=one.id) for one in candidates],
            [(one.relevant, one.irrelevant) for one in candidates],
            (RELEVANT, IRRELEVANT),
        )
        rows = np.array([one.row for one in candidates], dtype=np.int64)
        unwritten = [panel.items[one.row].id for one in candidates if one.irrelevant is None]
        own = tuple((name, questions[name]) for name in unwritten)
        return ExamPaper((pairs,), rows, len(panel.items), facts, own)

    def _others(
        self, panel: Panel, writer: EvaluationLM, second: Sequence[int]
    ) -> tuple[dict[str, str], dict[str, list[tuple[str, str | None]]]]:
        """Of each item Q', and (who answered it, IA); IA None where a judge is to write it."""
        task, sources = panel.task_description, {item.id: item.source for item in panel.items}
        nearest = zip(sources, most_similar(list(sources.values())), strict=True)
        near = {name: place for name, place in nearest if place >= 0}
        if self.question == "lm":
            questions = self._chat(task, sources, self.rewrite, writer)
        else:
            questions = {name: panel.items[place].source for name, place in near.items()}
        if self.answer == "self":
            return questions, {name: [(self.answer, None)] for name in questions}
        if self.answer == "writer":
            replies = self._chat(task, questions, self.respond, writer)
            return questions, {name: [(self.answer, text)] for name, text in replies.items()}
        return questions, {
            name: [(panel.agents[j].name, panel.texts[place][j]) for j in second]
            for name, place in near.items()
        }

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """1 where RA was preferred, shown first and shown second."""
        panel = paper.panels[0]
        if paper.questions:
            # Q' -> the first item that it stands beside: asked once
            first = {question: name for name, question in reversed(paper.questions)}
            questions = {name: question for question, name in first.items()}
            replies = self._chat(panel.task_description, questions, self.respond, judge)
            own = [replies.get(first[question]) for _, question in paper.questions]
            texts = tuple((row[0], text) for row, text in zip(panel.texts, own, strict=True))
            panel = replace(panel, texts=texts)
        verdict = self.mechanism.measure(panel, judge, seed=seed)["verdict"].values
        won = np.stack([verdict[:, 0, 1], 1 - verdict[:, 1, 0]], axis=1)
        both = pairs_of(panel)[:, (0, 1), (1, 0)]
        gap = [_gap(*row) for row in panel.texts]
        longer = np.where(both, (np.sign(np.array(gap))[:, None] + 1) / 2, np.nan)
        return Answers(paper.by_item(won), paper.mask(both), by_length=paper.by_item(longer))

    def _draw_candidates(
        self, panel: Panel, met: Sequence[Candidate], seed: int
    ) -> tuple[list[Candidate], str]:
        """The candidates to ask about, and on how many items they are matched by length."""
        most = None if self.pairs is None else max(self.pairs // 2, 1)
        even, at_random = list[Candidate](), list[Candidate]()
        items = matched = 0
        for row, group in groupby(met, key=lambda one: one.row):
            among, about = list(group), ("pertinence", panel.items[row].id)
            gaps = np.array([_gap(one.relevant, one.irrelevant) for one in among])
            places = couples(gaps, most, rng_for(seed, *about))
            order = rng_for(seed, *about).permutation(len(among))[: self.pairs]
            even += [among[place] for place in sorted(places.ravel())]
            at_random += [among[place] for place in sorted(order)]
            matched += len(places) > 0
            items += 1
        if 2 * matched >= items:
            return even, f"{matched} of {items} items"
        if matched == 0 and self.answer == "self":
            return at_random, "no: each judge writes its own answers"
        return at_random, f"no: {matched} of {items} items have longer and shorter ones"

    def _agents(self, panel: Panel) -> tuple[list[int], list[int]]:
        fair = [k for k, agent in enumerate(panel.agents) if agent.category not in PROBLEMATIC]
        fair = fair if len(fair) > 1 else list(range(len(panel.agents)))
        first, second = (
            fair if name is None else [place_of(panel, name, f"pertinence.{key}")]
            for key, name in ((RELEVANT, self.relevant), (IRRELEVANT, self.irrelevant))
        )
        return first, second

    def _chat(
        self, task: str, questions: Mapping[str, str], prompt: Prompt, lm: EvaluationLM
    ) -> dict[str, str]:
        """What an LM writes, by item id; without what it did not write."""
        requests = {
            name: ChatRequest(
                prompt.messages(task=task, source=source), 0.0, MAX_TOKENS, key=("pertinence", name)
            )
            for name, source in questions.items()
        }
        replies = write_texts(lm, requests)
        return {name: one.text for name, one in replies.items() if one.text is not None}


def _agent_names(names: Sequence[str], places: Sequence[int]) -> str:
    return names[places[0]] if len(places) == 1 else f"{len(places)} agents"


def _gap(relevant: str | None, irrelevant: str | None) -> float:
    """ln of the words of one for a word of the other (of nothing as of one); 0 where one lacks."""
    if relevant is None or irrelevant is None:
        return 0.0
    own, other = (max(len(text.split()), 1) for text in (relevant, irrelevant))
    return float(np.log(own) - np.log(other))


def couples(gaps: Floats, most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Couples of candidates [couples, 2], longer and shorter by as much as can be: whoever prefers
    the longer answer, or the shorter one, is right about one of each couple.

    ``gaps`` [candidates] are ln length of the relevant answer minus that of the irrelevant one. The
    assignment has the least sum of what the two gaps of a couple lack of cancelling out; of its
    better half (and no fewer than ``most``) ``most`` are drawn, all for None.
    """
    from scipy.optimize import linear_sum_assignment

    longer, shorter = np.flatnonzero(gaps > 0), np.flatnonzero(gaps < 0)
    imbalance = np.abs(gaps[longer][:, None] + gaps[shorter][None, :])
    rows, columns = linear_sum_assignment(imbalance)
    matched = np.stack([longer[rows], shorter[columns]], axis=1)
    if most is None:
        return matched
    best = np.argsort(imbalance[rows, columns], kind="stable")[: max(most, len(matched) // 2)]
    return np.asarray(matched[rng.permutation(best)[:most]])


def most_similar(sources: Sequence[str]) -> NDArray[np.int64]:
    """[sources] number of the nearest other source by the cosine of tf-idf; -1 where it shares no
    word with another. Sources that are equal up to case and spaces are no other questions."""
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
