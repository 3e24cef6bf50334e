"""What every judge says about a panel and in the exams, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import CapabilityError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.references import without_reference_texts
from judgelab.engine.usage import UsageCount
from judgelab.exam.protocol import Answers, Exam
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.decisions import Orders, gaps_of, votes_of
from judgelab.stats.qualification.exams import ExamAnswers, confidence, shares
from judgelab.study.qualification.costs import ExamUsage, Usage

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
        calls: [judges] questions behind verdicts or grades.
        input_tokens, output_tokens: [judges] of them all; NaN where not known (recorded ones).
        taken: exam -> [judges] who took it, those with unreadable answers alone among them.
        facts: exam -> how it was set.
        tied: [judges] share of the consistency exam's answers that are ties before and after the
            change; NaN where it was not taken.
        missing: sentences on exams that judges did not take, and on what was recorded.
        measured: judge -> what the mechanism measured (asked now), for the records.
        exam_usage: exam -> what its answers took.
        confidences: judge -> [items, ...] confidence on the easy and on the hard set.
    """

    judges: tuple[str, ...]
    pairs: Counts
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    calls: Counts
    input_tokens: Floats
    output_tokens: Floats
    taken: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]]
    tied: Floats
    missing: tuple[str, ...] = ()
    measured: Mapping[str, xr.Dataset] = field(default_factory=dict)
    exam_usage: Mapping[str, ExamUsage] = field(default_factory=dict)
    confidences: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """Behind the verdicts or grades."""
        return Usage(self.calls, self.input_tokens, self.output_tokens)

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
            calls=self.calls[rows],
            input_tokens=self.input_tokens[rows],
            output_tokens=self.output_tokens[rows],
            taken=taken,
            tied=self.tied[rows],
            exam_usage={exam: each.of(rows) for exam, each in self.exam_usage.items()},
        )

    def votes(self, orders: Orders = "merged") -> Floats:
        """[judges, items, pairs(, orders)] for the pair's first answer."""
        if self.verdicts is not None:
            return votes_of(self.verdicts, orders)
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


def ask(
    context: Context,
    panel: Panel,
    pairs: Counts,
    judges: Mapping[str, EvaluationLM],
    exams: Mapping[str, Exam],
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    _able(context, judges, exams)
    writers = {name: UsageCount(context.writer) for name in exams}
    papers = {
        name: exam.prepare(panel, writers[name], seed=context.seed) for name, exam in exams.items()
    }
    shown = panel if context.mechanism.subject == "pair" else without_reference_texts(panel)
    measured, answers = {}, {name: list[Answers]() for name in exams}
    bills, sat = [], {name: list[UsageCount]() for name in exams}
    for judge, lm in judges.items():
        bills.append(UsageCount(lm))
        context.tell(judge, 0)
        measured[judge] = replace(context, evaluation_lm=bills[-1], spread=alone).measure(shown)
        for name, exam in exams.items():
            context.tell(f"{judge}, {name}", 0)
            sat[name].append(UsageCount(lm))
            answers[name].append(exam.take(papers[name], sat[name][-1], seed=context.seed))
    taken = {name: np.array([not one.absence for one in each]) for name, each in answers.items()}
    taken = {name: each for name, each in taken.items() if each.any()}
    spent = used(bills)
    verdicts, grades = _arrays(context, list(measured.values()), pairs)
    return JudgeResponses(
        tuple(judges),
        pairs,
        verdicts,
        grades,
        {name: stacked(answers[name]) for name in taken},
        spent.calls,
        spent.input_tokens,
        spent.output_tokens,
        taken,
        {name: papers[name].facts for name in taken},
        ties_of(answers, len(judges)),
        _absences(answers, list(judges)),
        measured=measured,
        exam_usage={
            name: ExamUsage(
                used(each),
                used([one.beyond(bill) for one, bill in zip(each, bills, strict=True)]),
                used([writers[name]]),
            )
            for name, each in sat.items()
        },
        confidences=confidences_of(tuple(judges), answers.get("self_confidence", ())),
    )


def used(bills: Sequence[UsageCount]) -> Usage:
    """What was counted of each."""
    return Usage(
        np.array([bill.calls for bill in bills], dtype=np.int64),
        np.array([bill.input_tokens for bill in bills], dtype=np.float64),
        np.array([bill.output_tokens for bill in bills], dtype=np.float64),
    )


def confidences_of(
    judges: Sequence[str], answers: Sequence[Answers]
) -> dict[str, tuple[Floats, Floats]]:
    """Those of the judges who were asked how sure they are."""
    return {
        judge: (each.scored, each.hard)
        for judge, each in zip(judges, answers, strict=bool(answers))
        if each.hard is not None and not np.isnan(each.scored).all()
    }


def _absences(answers: Mapping[str, Sequence[Answers]], judges: Sequence[str]) -> tuple[str, ...]:
    """A sentence on each exam that some judge did not take, and why."""
    said = []
    for exam, each in answers.items():
        for reason in dict.fromkeys(one.absence for one in each if one.absence):
            who = [j for j, one in zip(judges, each, strict=True) if one.absence == reason]
            said.append(f"Exam {exam} was not taken by {', '.join(who)}: {reason}.")
            if len(who) == len(judges):
                said[-1] += " No judge took this exam, and no pool requires it."
    return tuple(said)


def _able(context: Context, judges: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]) -> None:
    for name, exam in exams.items():
        for judge, lm in judges.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot take study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if not exam.setter <= context.writer.capabilities:
            raise CapabilityError(
                f"study.{name} has its questions set by an LM that can do "
                f"{', '.join(sorted(exam.setter))}: choose evaluation_lm@writer_lm=OPTION."
            )


def _arrays(
    context: Context, data: Sequence[xr.Dataset], pairs: Counts
) -> tuple[Floats | None, Floats | None]:
    """Verdicts where the mechanism compares answers, else grades."""
    if all("verdict" in each for each in data):
        return both_orders(np.stack([each["verdict"].values for each in data]), pairs), None
    return None, np.stack([context.mechanism.score(each).agent.values for each in data])


def ties_of(answers: Mapping[str, Sequence[Answers]], judges: int) -> Floats:
    """[judges] share of ties in the consistency exam; NaN where it was not taken."""
    given = answers.get("consistency") or [Answers(np.empty(0))] * judges
    return np.array([each.tied for each in given])


def stacked(answers: Sequence[Answers]) -> ExamAnswers:
    """What the judges answered in one exam, summed over each item."""
    scored = np.stack([each.scored for each in answers])
    hard = [each.hard for each in answers if each.hard is not None]
    return confidence(scored, np.stack(hard)) if hard else shares(scored)
