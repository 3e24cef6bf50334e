"""Does the judge prefer an answer to the question over a well-written one beside it? (eq. 3)"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.exam.protocol import Answers, ExamPaper, PairJudge, pair_panel

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Pertinence:
    """P_p: the share of verdicts for the relevant answer (RA) against the irrelevant one (IA).

    RA answers the item's question Q. IA answers a question Q' that is like Q and another one: the
    most similar other source of the dataset, or Q rewritten by an LM. Both orders are asked.

    Args:
        judge: how the judge is asked.
        question: Q' by ``retrieval`` in the dataset, or by an ``lm`` (the writer).
        answer: what writes IA: an agent of the ``panel`` (what it wrote about the retrieved
            source), the ``writer`` (a stronger model), or the judge ``self``.
        relevant: agent whose answers are RA; null: the first that is no reference.
        irrelevant: agent whose answers are IA (answer=panel); null: the reference, else the
            first other agent.
        rewrite: prompt for Q'; fields task and source.
        respond: prompt for IA; fields task and source.
        temperature: of both.
        max_tokens: upper bound on both.

    Raises:
        ConfigError: a rewritten question cannot have been answered by an agent of the panel.
    """

    judge: PairJudge
    rewrite: Prompt
    respond: Prompt
    question: Literal["retrieval", "lm"] = "retrieval"
    answer: Literal["panel", "writer", "self"] = "panel"
    relevant: str | None = None
    irrelevant: str | None = None
    temperature: float = 0.0
    max_tokens: int = 1000

    @property
    def requires(self) -> frozenset[Capability]:
        """What the judge is asked by, and chat where it answers questions itself."""
        own = frozenset({Capability.CHAT} if self.answer == "self" else ())
        return self.judge.requires[0] | own

    def __post_init__(self) -> None:
        if (self.question, self.answer) == ("lm", "panel"):
            raise ConfigError(
                "pertinence.question=lm makes questions that have no answer yet: choose "
                "pertinence.answer=writer or self."
            )

    @property
    def setter(self) -> frozenset[Capability]:
        """Chat, where the writer sets or answers questions."""
        needed = self.question == "lm" or self.answer == "writer"
        return frozenset({Capability.CHAT}) if needed else frozenset()

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """Find or write Q', and IA unless the judges write it.

        Raises:
            ConfigError: an agent is unknown, or there are no two.
        """
        first, second = self._agents(panel)
        sources = [item.source for item in panel.items]
        nearest = most_similar(sources)
        other = [sources[k] if k >= 0 else None for k in nearest]
        if self.question == "lm":
            other = self._chat(panel, sources, self.rewrite, writer)
        rows = [k for k, question in enumerate(other) if question is not None]
        asked = [other[k] or "" for k in rows]
        written: list[str | None] = [*asked]
        if self.answer == "panel":
            written = [panel.texts[nearest[k]][second] for k in rows]
        elif self.answer == "writer":
            written = self._chat(panel, asked, self.respond, writer)
        texts = [(panel.texts[k][first], text) for k, text in zip(rows, written, strict=True)]
        items = [panel.items[k] for k in rows]
        named = {RELEVANT: panel.agents[first].name}
        named[IRRELEVANT] = panel.agents[second].name if self.answer == "panel" else self.answer
        facts = {"question": self.question, "prompt": self.judge.prompt.identity, **named}
        made = pair_panel(panel, items, texts, (RELEVANT, IRRELEVANT))
        return ExamPaper((made,), np.array(rows, dtype=np.int64), len(panel.items), facts)

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """1 where RA was preferred, shown first and shown second."""
        panel = paper.panels[0]
        if self.answer == "self":
            asked = [row[1] or "" for row in panel.texts]
            written = self._chat(panel, asked, self.respond, judge)
            texts = [(row[0], text) for row, text in zip(panel.texts, written, strict=True)]
            panel = replace(panel, texts=tuple(texts))
        verdict = self.judge.measure(panel, judge, seed=seed)["verdict"].values
        won = np.stack([verdict[:, 0, 1], 1 - verdict[:, 1, 0]], axis=1)
        return Answers(paper.by_item(won))

    def _agents(self, panel: Panel) -> tuple[int, int]:
        names = [agent.name for agent in panel.agents]
        for name in (self.relevant, self.irrelevant):
            if name is not None and name not in names:
                raise ConfigError(f"No agent is called {name!r}.{did_you_mean(name, names)}")
        plain = [k for k, agent in enumerate(panel.agents) if not agent.reference]
        marked = [k for k, agent in enumerate(panel.agents) if agent.reference]
        first = [*plain, 0][0] if self.relevant is None else names.index(self.relevant)
        if self.irrelevant is not None:
            return first, names.index(self.irrelevant)
        rest = [k for k in (*marked, *plain) if k != first]
        if not rest and self.answer == "panel":
            raise ConfigError("The pertinence exam needs two agents, or pertinence.answer=writer.")
        return first, rest[0] if rest else first

    def _chat(
        self, panel: Panel, sources: list[str], prompt: Prompt, lm: EvaluationLM
    ) -> list[str | None]:
        requests = [
            ChatRequest(
                prompt.messages(task=panel.task_description, source=source),
                self.temperature,
                self.max_tokens,
                key=("pertinence", str(k)),
            )
            for k, source in enumerate(sources)
        ]
        replies = lm.chat(requests) if requests else []
        return [(reply.text or "").strip() or None for reply in replies]


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
