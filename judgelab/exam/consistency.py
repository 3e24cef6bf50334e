"""Does the verdict stay when something changes that should not matter? (equations 1 and 2)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel, without
from judgelab.exam.protocol import Answers, Exam, ExamPaper, pairs_of
from judgelab.mechanism.judge import PairMechanism
from judgelab.stats.qualification.exams import same_verdicts, tie_share


@dataclass(frozen=True)
class Consistency(Exam):
    """P_c: the share of pairs with the same verdict before and after a change."""

    mechanism: PairMechanism  # the questions of mechanism=pairwise are not asked twice

    @property
    def requires(self) -> frozenset[Capability]:
        return self.mechanism.requires[0]

    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        facts = {"change": "position", "prompt": self.mechanism.prompt.identity}
        panel = without(panel, np.array([agent.reference for agent in panel.agents]))
        return ExamPaper((panel,), np.arange(len(panel.items)), len(panel.items), facts)

    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """1 where the verdict stayed; two ties have stayed, and are counted."""
        [panel] = paper.panels
        verdict = self.mechanism.measure(panel, judge, seed=seed)["verdict"].values
        first, second = np.triu_indices(len(panel.agents), 1)
        before, after = verdict[:, first, second], 1 - verdict[:, second, first]
        mask = paper.mask(pairs_of(panel)[:, first, second])
        same = paper.by_item(same_verdicts(before, after))
        return Answers(same, mask, tied=tie_share(before, after))
