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
from judgelab.stats.qualification.exams import ExamAnswers, Shares, confidence, over, shares
from judgelab.study.common.judges import asks_nobody
from judgelab.study.qualification.judge_responses import Counts, JudgePrices, JudgeResponses


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
    papers: dict[str, ExamPaper] = {}
    writers = {name: LoggedLM(context.writer) for name in exams}
    missing: list[str] = []
    for name, exam in exams.items():
        try:
            papers[name] = exam.prepare(panel, writers[name], seed=context.seed)
        except NotHeldError as cause:
            missing.append(
                f"Exam {name} was not held: {cause}, or study.{name}=null. No judge took this "
                "exam, and no pool requires it."
            )
    voting = {judge: LoggedLM(lm) for judge, lm in lms.items()}
    examined = {name: {judge: LoggedLM(lm) for judge, lm in lms.items()} for name in papers}
    measured: dict[str, xr.Dataset] = {}
    answers = {name: dict[str, Answers]() for name in papers}
    for judge, own in asked.items():
        context.tell(judge, 0)
        shown = panel if own.mechanism.subject == "pair" else without_reference_texts(panel)
        measured[judge] = replace(own, evaluation_lm=voting[judge], spread=alone).measure(shown)
        for name, paper in papers.items():
            context.tell(f"{judge}, {name}", 0)
            lm = examined[name][judge]
            answers[name][judge] = exams[name].take(paper, lm, seed=context.seed)
    missing += _absences(answers)
    taken = {
        name: np.array([not one.absence for one in each.values()])
        for name, each in answers.items()
        if not all(one.absence for one in each.values())
    }
    consistency = answers.get("consistency", {})
    verdicts, grades = _arrays(asked, measured, pairs)
    return JudgeResponses(
        tuple(asked),
        pairs,
        verdicts,
        grades,
        exams={name: _stacked([*answers[name].values()]) for name in taken},
        cost=prices.asked(voting),
        taken=taken,
        facts={name: {**papers[name].facts, **_ways(answers[name])} for name in taken},
        tied=np.array([each.tied for each in consistency.values()] or [np.nan] * len(asked)),
        missing=tuple(missing),
        over_length={
            name: lead for name in taken if (lead := _over_length([*answers[name].values()]))
        },
        estimators=tuple(own.estimator(measured[name].attrs) for name, own in asked.items()),
        exam_costs={
            name: (
                prices.asked(own),
                prices.asked(own, voting),
                float(prices.asked({"the writer": writers[name]})[0]),
            )
            for name, own in examined.items()
        },
        confidences={
            judge: (each.scored, each.hard)
            for judge, each in answers.get("self_confidence", {}).items()
            if each.hard is not None and not np.isnan(each.scored).all()
        },
    )


def _stacked(answers: list[Answers]) -> ExamAnswers:
    """What the judges answered in one exam, summed over each item."""
    scored, asked = (np.stack([getattr(x, key) for x in answers]) for key in ("scored", "asked"))
    if answers[0].hard is None:
        return shares(scored, asked)
    hard, put = (np.stack([getattr(x, key) for x in answers]) for key in ("hard", "hard_asked"))
    return confidence(scored, hard, asked, put)


def _over_length(answers: list[Answers]) -> Shares | None:
    """The judges' lead over preferring the longer answer, of exams on what texts say."""
    if answers[0].by_length is None:
        return None
    own, theirs = (np.stack([getattr(x, key) for x in answers]) for key in ("scored", "by_length"))
    return over(own, theirs, np.stack([x.asked for x in answers]))


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
        if exam.needs_writer and Capability.CHAT not in context.writer.capabilities:
            raise CapabilityError(
                f"study.{name} has texts written by an LM that can chat: choose "
                "evaluation_lm@writer_lm=OPTION."
            )


def _ways(answers: Mapping[str, Answers]) -> dict[str, str]:
    """How the judges were asked, where that may differ."""
    ways: dict[str, list[str]] = {}
    for judge, own in answers.items():
        if own.way:
            ways.setdefault(own.way, []).append(judge)
    by = "; ".join(f"{way} ({', '.join(who)})" for way, who in ways.items())
    return {"by": by} if by else {}


def _absences(answers: Mapping[str, Mapping[str, Answers]]) -> Iterator[str]:
    """A sentence on each exam that some judge did not take, and why."""
    for exam, each in answers.items():
        for reason in dict.fromkeys(one.absence for one in each.values() if one.absence):
            who = [judge for judge, one in each.items() if one.absence == reason]
            nobody = " No judge took this exam, and no pool requires it."
            yield (
                f"Exam {exam} was not taken by {', '.join(who)}: {reason}."
                f"{nobody if len(who) == len(each) else ''}"
            )


def _arrays(
    asked: Mapping[str, Context], data: Mapping[str, xr.Dataset], pairs: Counts
) -> tuple[Floats | None, Floats | None]:
    """[judges, items, pairs, orders] verdicts where mechanisms compare, else grades."""
    if all(own.mechanism.subject == "choice" for own in asked.values()):
        cells = np.stack([each["verdict"].values for each in data.values()])
        first, second = pairs.T
        both = cells[:, :, first, second], 1 - cells[:, :, second, first]
        return np.stack(both, axis=-1), None
    grades = [asked[name].mechanism.score(each).agent.values for name, each in data.items()]
    return None, np.stack(grades)
