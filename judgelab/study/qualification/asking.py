"""The mechanism's questions and the exams, put to every judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from judgelab.calls.log import LoggedLM
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context, without_reference_texts
from judgelab.exam.protocol import Answers, Exam, ExamPaper, NotHeldError
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import confidence, over, shares
from judgelab.study.common.judges import asks_nobody
from judgelab.study.qualification.judge_responses import (
    Counts,
    ExamResult,
    JudgePrices,
    JudgeResponses,
)


def ask(
    context: Context,
    panel: Panel,
    pairs: Counts,
    asked: Mapping[str, Context],
    exams: Mapping[str, Exam],
    prices: JudgePrices,
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge, each in its context.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    lms = {name: own.evaluation_lm for name, own in asked.items()}
    _check_able(context, lms, exams)
    missing: list[str] = []
    papers: dict[str, tuple[ExamPaper, LoggedLM]] = {}  # with who wrote it
    for name, exam in exams.items():
        writer = LoggedLM(context.writer())
        try:
            papers[name] = exam.prepare(panel, writer, seed=context.seed), writer
        except NotHeldError as cause:
            missing.append(
                f"Exam {name} was not held: {cause}, or study.{name}=null. No judge took this "
                "exam, and no pool requires it."
            )
    voting = {judge: LoggedLM(lm) for judge, lm in lms.items()}
    measured: dict[str, xr.Dataset] = {}
    for judge, own in asked.items():
        context.tell(judge, 0)
        shown = panel if own.mechanism.subject == "pair" else without_reference_texts(panel)
        measured[judge] = replace(own, evaluation_lm=voting[judge], spread=alone).measure(shown)
    results: dict[str, ExamResult] = {}
    for name, (paper, writer) in papers.items():
        logs = {judge: LoggedLM(lm) for judge, lm in lms.items()}
        answers: dict[str, Answers] = {}
        for judge, lm in logs.items():
            context.tell(f"{judge}, {name}", 0)
            answers[judge] = exams[name].take(paper, lm, seed=context.seed)
        missing += _absences(name, answers)
        if not all(one.absence for one in answers.values()):
            writing = float(prices.asked({"the writer": writer})[0])
            cost = prices.asked(logs), prices.asked(logs, voting), writing
            results[name] = _result(paper, answers, cost)
    return JudgeResponses(
        tuple(asked),
        pairs,
        _cells(asked, measured, pairs),
        prices.asked(voting),
        results,
        tuple(missing),
        estimators=tuple(own.estimator(measured[name].attrs) for name, own in asked.items()),
    )


def _result(
    paper: ExamPaper, answers: Mapping[str, Answers], cost: tuple[Floats, Floats, float]
) -> ExamResult:
    """What the judges answered in one exam, summed over each item."""
    every = [*answers.values()]

    def stacked(part: str) -> Floats:
        return np.stack([getattr(one, part) for one in every])

    scored, put, over_length = stacked("scored"), stacked("asked"), None
    if every[0].by_length is not None:
        over_length = over(scored, stacked("by_length"), put)
    ways: dict[str, list[str]] = {}
    for judge, one in answers.items():
        if one.way:
            ways.setdefault(one.way, []).append(judge)
    by = "; ".join(f"{way} ({', '.join(who)})" for way, who in ways.items())
    return ExamResult(
        shares(scored, put)
        if every[0].hard is None
        else confidence(scored, stacked("hard"), put, stacked("hard_asked")),
        np.array([not one.absence for one in every]),
        {**paper.facts, **({"by": by} if by else {})},
        cost,
        np.array([one.tied for one in every]),
        over_length,
        {
            judge: (one.scored, one.hard)
            for judge, one in answers.items()
            if one.hard is not None and not np.isnan(one.scored).all()
        },
    )


def check(context: Context, asked: Mapping[str, Context]) -> None:
    """Whether these judges can vote together.

    Raises:
        ConfigError: one asks no LM or reads other texts, or one compares answers and another
            grades them.
    """
    ways: dict[bool, str] = {}
    for name, own in asked.items():
        mechanism = own.mechanism
        if asks_nobody(mechanism):
            raise ConfigError(
                f"study.judges.{name}: mechanism={mechanism.name} asks no LM, and cannot take "
                "exams: it is a control (study.controls). Choose one that does, as "
                "mechanism=pairwise."
            )
        if own.preprocessor is not context.preprocessor:
            raise ConfigError(
                f"study.judges.{name}.preprocessor: all judges read the same texts here: choose "
                "preprocessor for the run."
            )
        ways[mechanism.subject == "choice"] = f"{name} (mechanism={mechanism.name})"
    if len(ways) > 1:
        raise ConfigError(
            f"study.judges: {ways[True]} compares answers, and {ways[False]} grades them: give all "
            "judges mechanisms of one kind."
        )


def _check_able(
    context: Context, judges: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]
) -> None:
    for name, exam in exams.items():
        for judge, lm in judges.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot take study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if exam.needs_writer and Capability.CHAT not in context.writer().capabilities:
            raise CapabilityError(
                f"study.{name} has texts written by an LM that can chat: choose "
                "evaluation_lm@writer_lm=OPTION."
            )


def _absences(exam: str, answers: Mapping[str, Answers]) -> Iterator[str]:
    for reason in dict.fromkeys(one.absence for one in answers.values() if one.absence):
        who = [judge for judge, one in answers.items() if one.absence == reason]
        nobody = " No judge took this exam, and no pool requires it."
        yield (
            f"Exam {exam} was not taken by {', '.join(who)}: {reason}."
            f"{nobody if len(who) == len(answers) else ''}"
        )


def _cells(asked: Mapping[str, Context], data: Mapping[str, xr.Dataset], pairs: Counts) -> Floats:
    """Verdicts where mechanisms compare, else grades (``JudgeResponses``)."""
    if any(own.mechanism.subject != "choice" for own in asked.values()):
        grades = [asked[name].mechanism.score(each).agent.values for name, each in data.items()]
        return np.stack(grades)
    verdicts = np.stack([each["verdict"].values for each in data.values()])
    first, second = pairs.T
    both = verdicts[:, :, first, second], 1 - verdicts[:, :, second, first]
    return np.stack(both, axis=-1)
