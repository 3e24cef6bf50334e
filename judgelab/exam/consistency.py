"""Does the verdict stay when something changes that should not matter? (equations 1 and 2)"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.exam.protocol import (
    Answers,
    Bools,
    Exam,
    ExamPaper,
    Floats,
    PairJudge,
    pair_panel,
    shown,
)
from judgelab.stats.qualification.exams import tied, unchanged

Twice = tuple[Floats, Floats]
"""[questions, pairs] did the first answer win, before and after a change? .5 tie, NaN unread."""


class Change(Protocol):
    """What is changed about the question."""

    def verdicts(self, judge: PairJudge, panel: Panel, lm: EvaluationLM, seed: int) -> Twice:
        """Before and after."""
        ...

    def asked(self, panel: Panel) -> Bools:
        """[questions, pairs] which of them were put."""
        ...


@dataclass(frozen=True)
class Position:
    """The two answers change places (as in the paper)."""

    def verdicts(self, judge: PairJudge, panel: Panel, lm: EvaluationLM, seed: int) -> Twice:
        """See Change."""
        verdict = judge.measure(panel, lm, seed=seed)["verdict"].values
        first, second = np.triu_indices(len(panel.agents), 1)
        return verdict[:, first, second], 1 - verdict[:, second, first]

    def asked(self, panel: Panel) -> Bools:
        """See Change."""
        first, second = np.triu_indices(len(panel.agents), 1)
        return shown(panel)[:, first, second]


@dataclass(frozen=True)
class Wording:
    """The instruction is put in other words; both orders count.

    Args:
        prompt: the other wording, with the fields of the judge's own.
    """

    prompt: Prompt

    def verdicts(self, judge: PairJudge, panel: Panel, lm: EvaluationLM, seed: int) -> Twice:
        """See Change."""
        first, second = np.nonzero(~np.eye(len(panel.agents), dtype=np.bool_))
        before, after = (
            one.measure(panel, lm, seed=seed)["verdict"].values[:, first, second]
            for one in (judge, judge.worded(self.prompt))
        )
        return before, after

    def asked(self, panel: Panel) -> Bools:
        """See Change."""
        first, second = np.nonzero(~np.eye(len(panel.agents), dtype=np.bool_))
        return shown(panel)[:, first, second]


@dataclass(frozen=True)
class Consistency(Exam):
    """P_c: the share of pairs with the same verdict before and after a change.

    Args:
        judge: how the judge is asked; the same questions as mechanism=pairwise asks are not
            asked twice.
        change: what changes: judgelab.exam.consistency.Position or Wording.
        pairs: pairs of answers drawn for each item; null: all.
    """

    judge: PairJudge
    change: Change = Position()
    pairs: Count | None = None

    @property
    def requires(self) -> frozenset[Capability]:
        """What the judge is asked by."""
        return self.judge.requires[0]

    def judged_by(self, judge: PairJudge) -> Consistency:
        """See Exam."""
        return replace(self, judge=judge)

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """All pairs of answers that are no references, or some drawn for each item."""
        facts = {"change": type(self.change).__name__.lower(), "prompt": self.judge.prompt.identity}
        spared = [agent.reference for agent in panel.agents]
        texts_shown = tuple(
            tuple(None if out else text for out, text in zip(spared, row, strict=True))
            for row in panel.texts
        )
        panel = replace(panel, texts=texts_shown)
        if self.pairs is None:
            return ExamPaper((panel,), np.arange(len(panel.items)), len(panel.items), facts)
        items, texts, owners = [], [], []
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            present = [j for j, text in enumerate(row) if text is not None]
            first, second = np.triu_indices(len(present), 1)
            rng = rng_for(seed, "consistency", item.id)
            for place in rng.permutation(len(first))[: self.pairs]:
                i, j = present[first[place]], present[second[place]]
                items.append(replace(item, id=f"{item.id} {i}-{j}"))
                texts.append((row[i], row[j]))
                owners.append(k)
        drawn = pair_panel(panel, items, texts)
        return ExamPaper((drawn,), np.array(owners, dtype=np.int64), len(panel.items), facts)

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """1 where the verdict stayed; two ties have stayed, and are counted."""
        before, after = self.change.verdicts(self.judge, paper.panels[0], judge, seed)
        return Answers(
            paper.by_item(unchanged(before, after)),
            tied=tied(before, after),
            asked=paper.asked(self.change.asked(paper.panels[0])),
        )
