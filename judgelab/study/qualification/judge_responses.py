"""What every judge says about a panel and in the exams, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.exam.protocol import Answers
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.decisions import gaps_of, votes_of
from judgelab.stats.qualification.exams import (
    Bools,
    ExamAnswers,
    Shares,
    confidence,
    shares,
)
from judgelab.study.qualification.costs import ExamCost

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class JudgeResponses:
    """Verdicts or grades and exam answers of all judges; arrays are NaN where unscored.

    Attributes:
        judges: names, in the order of all arrays.
        pairs: [pairs, 2] agents of each pair of answers.
        verdicts: [judges, items, pairs, orders] does the pair's first answer win; None where the
            judges grade answers one by one.
        grades: [judges, items, agents]; None where they compare answers.
        exams: exam -> answers; an exam that no judge took is absent.
        cost: [judges] of verdicts or grades; NaN where unknown.
        taken: exam -> [judges] who took it, those with unreadable answers alone among them.
        facts: exam -> how it was set.
        tied: [judges] share of the consistency exam's answers that are ties before and after the
            change; NaN where it was not taken.
        missing: sentences on exams that judges did not take, and on what was recorded.
        controls: exam -> control -> what it got; one judge each. Only of exams asked now.
        leads: exam -> control -> the judges' lead over it on the same answers, where it decides.
        gaps: exam -> (who was asked, measure) -> [items, questions] how much more the relevant
            answer has of what a judge can see without the question.
        measured: judge -> what the mechanism measured (asked now), for the records.
        exam_costs: exam -> what it cost.
        confidences: judge -> [items, ...] confidence on the easy and on the hard set.
    """

    judges: tuple[str, ...]
    pairs: Counts
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    cost: Floats
    taken: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]]
    tied: Floats
    missing: tuple[str, ...] = ()
    controls: Mapping[str, Mapping[str, ExamAnswers]] = field(default_factory=dict)
    leads: Mapping[str, Mapping[str, Shares]] = field(default_factory=dict)
    gaps: Mapping[str, Mapping[tuple[str, str], Floats]] = field(default_factory=dict)
    measured: Mapping[str, xr.Dataset] = field(default_factory=dict)
    exam_costs: Mapping[str, ExamCost] = field(default_factory=dict)
    confidences: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> JudgeResponses:
        """The same of these judges alone, in this order, without exams that none of them took."""
        rows = np.array([self.judges.index(name) for name in names], dtype=np.int64)
        taken = {exam: took[rows] for exam, took in self.taken.items() if took[rows].any()}
        return replace(
            self,
            judges=tuple(names),
            verdicts=None if self.verdicts is None else self.verdicts[rows],
            grades=None if self.grades is None else self.grades[rows],
            exams={exam: self.exams[exam].of(rows) for exam in taken},
            cost=self.cost[rows],
            taken=taken,
            tied=self.tied[rows],
            exam_costs={
                exam: (whole[rows], more[rows], writing)
                for exam, (whole, more, writing) in self.exam_costs.items()
            },
            leads={
                exam: {control: lead.of(rows) for control, lead in leads.items()}
                for exam, leads in self.leads.items()
            },
        )

    @property
    def votes(self) -> Floats:
        """[judges, items, pairs] for the pair's first answer; both orders are one vote."""
        if self.verdicts is not None:
            return votes_of(self.verdicts)
        assert self.grades is not None
        return gaps_of(self.grades, self.pairs)

    def named(self, mask: NDArray[np.bool_]) -> str:
        """The judges of a mask, with commas between them."""
        return ", ".join(judge for judge, inside in zip(self.judges, mask, strict=True) if inside)

    def records(self, panel: Panel) -> pd.DataFrame:
        """One row per judge, item and pair (both orders), or per judge, item and answer."""
        names = np.array([agent.name for agent in panel.agents])
        cells = self.grades if self.verdicts is None else self.verdicts[..., 0]
        assert cells is not None
        judge, item, column = (grid.ravel() for grid in np.indices(cells.shape))
        items = np.array([item.id for item in panel.items])
        head = {"judge": np.array(self.judges)[judge], "item": items[item]}
        if self.verdicts is None:
            return pd.DataFrame({**head, "agent": names[column], "grade": cells.ravel()})
        first, second = names[self.pairs][column].T
        won = {"first_wins": cells.ravel()}
        won |= {"first_wins_shown_second": self.verdicts[..., 1].ravel()}
        return pd.DataFrame({**head, "first": first, "second": second, **won})


def both_orders(cells: Floats, pairs: Counts) -> Floats:
    """[judges, items, pairs, orders] of [judges, items, agent, peer]: does the first answer win."""
    first, second = pairs.T
    return np.stack([cells[:, :, first, second], 1 - cells[:, :, second, first]], axis=-1)


def ties_of(consistency: Sequence[Answers], judges: int) -> Floats:
    """[judges] share of ties in that exam; NaN where it was not taken."""
    return np.array([each.tied for each in consistency] or [np.nan] * judges)


def stacked(answers: Sequence[Answers]) -> ExamAnswers:
    """What the judges answered in one exam, summed over each item."""
    scored = np.stack([each.scored for each in answers])
    asked = np.stack([put_of(each.asked, each.scored) for each in answers])
    hard = [each.hard for each in answers if each.hard is not None]
    if not hard:
        return shares(scored, asked)
    hard_asked = [put_of(each.hard_asked, each.scored) for each in answers]
    return confidence(scored, np.stack(hard), asked, np.stack(hard_asked))


def put_of(asked: Bools | None, scored: Floats) -> Bools:
    """Which questions were put: all of them, where that is not known."""
    return np.ones(scored.shape, dtype=np.bool_) if asked is None else asked
