"""What every judge says about a panel and in the exams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import CapabilityError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.references import without_reference_texts
from judgelab.engine.usage import Tallied
from judgelab.exam.protocol import Answers, Exam
from judgelab.scale.protocol import alone
from judgelab.stats.qualification.exams import ExamAnswers, confidence, shares
from judgelab.stats.qualification.pooling import gaps_of, votes_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Hearing:
    """The judges' answers.

    Attributes:
        judges: names, in the order of all arrays.
        pairs: [pairs, 2] agents of each pair of answers.
        verdicts: [judges, items, pairs, orders] does the pair's first answer win; None where the
            judges grade answers one by one.
        grades: [judges, items, agents]; None where they compare answers.
        exams: exam -> answers; an exam that nobody sat is absent.
        calls: [judges] questions behind verdicts or grades.
        input_tokens, output_tokens: [judges] of them all; NaN where not known (recorded ones).
        sat: exam -> [judges] who sat it; whose answers are all unreadable has sat it too.
        facts: exam -> how it was set.
        tied: [judges] share of the consistency exam's answers that are ties before and after the
            change; NaN where it was not sat.
        missing: sentences on exams that somebody could not sit, and on what was recorded.
        measured: judge -> what the mechanism measured (asked now), for the records.
    """

    judges: tuple[str, ...]
    pairs: NDArray[np.int64]
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    calls: NDArray[np.int64]
    input_tokens: Floats
    output_tokens: Floats
    sat: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]]
    tied: Floats
    missing: tuple[str, ...] = ()
    measured: Mapping[str, xr.Dataset] = field(default_factory=dict)

    def votes(self, orders: str = "merged") -> Floats:
        """[judges, items, pairs(, orders)] for the pair's first answer, as ``pooling.decide``."""
        if self.verdicts is not None:
            return votes_of(self.verdicts, "merged" if orders == "merged" else "per_order")
        assert self.grades is not None
        return gaps_of(self.grades, self.pairs)


def ask(
    context: Context,
    panel: Panel,
    pairs: NDArray[np.int64],
    judges: Mapping[str, EvaluationLM],
    exams: Mapping[str, Exam],
) -> Hearing:
    """Put the mechanism's questions and the exams to every judge.

    Reference answers are shown in exams that are made of them, and to mechanisms that need peers;
    nobody is asked, or paid, for verdicts on them that no pool uses.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    _able(context, judges, exams)
    papers = {
        name: exam.prepare(panel, context.writer, seed=context.seed) for name, exam in exams.items()
    }
    shown = panel if context.mechanism.subject == "pair" else without_reference_texts(panel)
    measured, answers = {}, {name: list[Answers]() for name in exams}
    bills = []
    for judge, lm in judges.items():
        bills.append(Tallied(lm))
        context.tell(judge, 0)
        measured[judge] = replace(context, evaluation_lm=bills[-1], spread=alone).measure(shown)
        for name, exam in exams.items():
            context.tell(f"{judge}, {name}", 0)
            answers[name].append(exam.sit(papers[name], lm, seed=context.seed))
    verdicts, grades = _arrays(context, list(measured.values()), pairs)
    sat = {name: np.array([not one.absence for one in each]) for name, each in answers.items()}
    some = {name for name, each in sat.items() if each.any()}
    return Hearing(
        tuple(judges),
        pairs,
        verdicts,
        grades,
        {name: _stacked(each) for name, each in answers.items() if name in some},
        np.array([bill.calls for bill in bills], dtype=np.int64),
        np.array([bill.input_tokens for bill in bills], dtype=np.float64),
        np.array([bill.output_tokens for bill in bills], dtype=np.float64),
        {name: each for name, each in sat.items() if name in some},
        {name: paper.facts for name, paper in papers.items() if name in some},
        _tied(answers, len(judges)),
        _absences(answers, list(judges)),
        measured=measured,
    )


def _absences(answers: Mapping[str, Sequence[Answers]], judges: Sequence[str]) -> tuple[str, ...]:
    """A sentence on each exam that not everybody could sit, and why."""
    said = []
    for exam, each in answers.items():
        for reason in dict.fromkeys(one.absence for one in each if one.absence):
            who = [j for j, one in zip(judges, each, strict=True) if one.absence == reason]
            fate = "" if len(who) < len(judges) else " Nobody sat it, and no pool asks for it."
            said.append(f"Exam {exam} was not sat by {', '.join(who)}: {reason}.{fate}")
    return tuple(said)


def _able(context: Context, judges: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]) -> None:
    for name, exam in exams.items():
        for judge, lm in judges.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot sit study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if not exam.setter <= context.writer.capabilities:
            raise CapabilityError(
                f"study.{name} has its questions set by an LM that can do "
                f"{', '.join(sorted(exam.setter))}: choose evaluation_lm@writer_lm=OPTION."
            )


def _arrays(
    context: Context, data: Sequence[xr.Dataset], pairs: NDArray[np.int64]
) -> tuple[Floats | None, Floats | None]:
    """Verdicts where the mechanism compares answers, else grades."""
    first, second = pairs.T
    if all("verdict" in each for each in data):
        cells = np.stack([each["verdict"].values for each in data])
        return np.stack([cells[:, :, first, second], 1 - cells[:, :, second, first]], -1), None
    return None, np.stack([context.mechanism.score(each).agent.values for each in data])


def _stacked(answers: Sequence[Answers]) -> ExamAnswers:
    scored = np.stack([each.scored for each in answers])
    hard = [each.hard for each in answers if each.hard is not None]
    return confidence(scored, np.stack(hard)) if hard else shares(scored)


def _tied(answers: Mapping[str, Sequence[Answers]], judges: int) -> Floats:
    if "consistency" not in answers:
        return np.full(judges, np.nan)
    return np.array([each.tied for each in answers["consistency"]], dtype=np.float64)
