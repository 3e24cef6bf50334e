"""The mechanism's questions and the exams, put to every judge, with controls beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from judgelab.calls.log import CallLog, LoggedLM
from judgelab.core.capability import Capability
from judgelab.core.errors import CapabilityError, ConfigError, did_you_mean
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.references import without_reference_texts
from judgelab.exam import superficial
from judgelab.exam.protocol import Answers, Exam, ExamPaper, NotHeldError
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import ExamAnswers, Shares, over
from judgelab.study.common.judges import NamedJudge, asks_nobody
from judgelab.study.qualification.controls import LENGTH, ByScore, Control
from judgelab.study.qualification.costs import JudgePrices
from judgelab.study.qualification.judge_responses import (
    Counts,
    JudgeResponses,
    both_orders,
    confidences_of,
    put_of,
    stacked,
    ties_of,
)


def ask(
    context: Context,
    panel: Panel,
    pairs: Counts,
    asked: Mapping[str, Context],
    exams: Mapping[str, Exam],
    controls: Sequence[Control],
    prices: JudgePrices,
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge, each in its context.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    alone_asked, judges, lms = asks_nobody(context.mechanism), tuple(asked), judges_of(asked)
    if alone_asked:
        exams = {name: exam.asked_by(ByScore(context.mechanism)) for name, exam in exams.items()}
    _able(context, lms, exams)
    counted = {name: _writers(context, exam) for name, exam in exams.items()}
    writers = {name: each for name, (_, each) in counted.items()}
    writings = {name: {who: lm.log for who, lm in each.items()} for name, each in writers.items()}
    exams = {name: exam for name, (exam, _) in counted.items()}
    papers, missing = _papers(context, panel, exams, writers)
    measured: dict[str, xr.Dataset] = {}
    logs: dict[str, CallLog] = {}
    answers = {name: list[Answers]() for name in papers}
    exam_logs = {name: dict[str, CallLog]() for name in papers}
    for judge, own in asked.items():
        lm = LoggedLM(own.evaluation_lm)
        logs[judge] = lm.log
        context.tell(judge, 0)
        shown = panel if own.mechanism.subject == "pair" else without_reference_texts(panel)
        measured[judge] = replace(own, evaluation_lm=lm, spread=alone).measure(shown)
        for name, paper in papers.items():
            context.tell(f"{judge}, {name}", 0)
            lm = LoggedLM(own.evaluation_lm)
            said = exams[name].of(judge).take(paper, lm, seed=context.seed)
            if said.absence and alone_asked:
                said = replace(said, absence=f"mechanism={judge} does not say how sure it is")
            answers[name].append(said)
            exam_logs[name][judge] = lm.log
    took = {name: np.array([not one.absence for one in each]) for name, each in answers.items()}
    taken = {name: each for name, each in took.items() if each.any()}
    verdicts, grades = _arrays(asked, measured, pairs)
    made = JudgeResponses(
        judges,
        pairs,
        verdicts,
        grades,
        {name: stacked(answers[name]) for name in taken},
        prices.asked(lms, logs),
        taken,
        {name: {**papers[name].facts, **_ways(answers[name], judges)} for name in taken},
        ties_of(answers, len(judges)),
        (*missing, *_absences(answers, judges)),
        measured=measured,
        exam_costs={
            name: (
                prices.asked(lms, each),
                prices.asked(lms, {judge: log.beyond(logs[judge]) for judge, log in each.items()}),
                float(prices.asked(writers[name], writings[name]).sum()),
            )
            for name, each in exam_logs.items()
        },
        confidences=confidences_of(judges, answers.get("self_confidence", ())),
    )
    beside = {}
    for name in taken:
        said_by = dict(zip(judges, answers[name], strict=True))
        beside[name] = _beside(context, exams[name], papers[name], said_by, controls)
    return replace(
        made,
        controls={name: found for name, (found, _, _) in beside.items() if found},
        leads={name: found for name, (_, found, _) in beside.items() if found},
        gaps={name: found for name, (_, _, found) in beside.items() if found},
    )


def _beside(
    context: Context,
    exam: Exam,
    paper: ExamPaper,
    answers: Mapping[str, Answers],
    controls: Sequence[Control],
) -> tuple[dict[str, ExamAnswers], dict[str, Shares], dict[tuple[str, str], Floats]]:
    """What stands beside the judges' answers in an exam: what length got, the judges' lead over
    it, and how relevant answers look (of exams about content)."""
    lm, papers = context.evaluation_lm, {"all": paper}
    if paper.questions:  # each judge wrote a part of what it was asked
        papers = {who: said.paper for who, said in answers.items() if said.paper is not None}
    got: dict[str, ExamAnswers] = {}
    leads: dict[str, Shares] = {}
    if "length" in controls:
        control = exam.asked_by(LENGTH)
        by = {who: control.take(one, lm, seed=context.seed) for who, one in papers.items()}
        first, *_ = by.values()
        joined = np.concatenate([one.scored for one in by.values()], axis=1)
        got = {"length": stacked([replace(first, scored=joined, asked=None)])}
        if exam.content:
            theirs = [by.get(who, by.get("all", said)).scored for who, said in answers.items()]
            own = [said.scored for said in answers.values()]
            put = [put_of(said.asked, said.scored) for said in answers.values()]
            leads = {"length": over(np.stack(own), np.stack(theirs), np.stack(put))}
    looks = {
        (who, measure): one.by_item(values[:, None])
        for who, one in (papers.items() if exam.content else ())
        for measure, values in superficial.gaps(one.panels[0], lm).items()
    }
    return got, leads, looks


def _writers(context: Context, exam: Exam) -> tuple[Exam, dict[str, LoggedLM]]:
    """The exam with an account for each LM of its own, and these and the run's writer."""
    found = {"the writer": LoggedLM(context.writer)}

    def count(name: str, lm: EvaluationLM) -> EvaluationLM:
        return found.setdefault(name, LoggedLM(lm))

    return exam.with_lms(count), found


def _papers(
    context: Context,
    panel: Panel,
    exams: Mapping[str, Exam],
    writers: Mapping[str, Mapping[str, EvaluationLM]],
) -> tuple[dict[str, ExamPaper], list[str]]:
    """The exams that can be held, and a sentence on each that cannot."""
    papers, missing = {}, []
    for name, exam in exams.items():
        try:
            papers[name] = exam.prepare(panel, writers[name]["the writer"], seed=context.seed)
        except NotHeldError as cause:
            missing.append(
                f"Exam {name} was not held: {cause}, or study.{name}=null. No judge took this "
                "exam, and no pool requires it."
            )
    return papers, missing


def judges_of(asked: Mapping[str, Context]) -> dict[str, EvaluationLM]:
    """Those that are asked now, with their LM."""
    return {name: own.evaluation_lm for name, own in asked.items()}


def of_one_kind(judges: Mapping[str, NamedJudge]) -> Mapping[str, NamedJudge]:
    """The judges, whose votes can be pooled.

    Raises:
        ConfigError: one compares answers and another grades them, one asks no LM, or one reads
            other texts.
    """
    own = {name: one.mechanism for name, one in judges.items() if one.mechanism is not None}
    for name, mechanism in own.items():
        if asks_nobody(mechanism):
            raise ConfigError(
                f"study.judges.{name}: mechanism={mechanism.name} asks no LM: it is a judge alone "
                f"(mechanism={mechanism.name}), or beside others a control (study.controls)."
            )
        if judges[name].preprocessor is not None:
            raise ConfigError(
                f"study.judges.{name}.preprocessor: all judges read the same texts here: choose "
                "preprocessor for the run."
            )
    ways = {mechanism.subject == "choice": name for name, mechanism in own.items()}
    if len(ways) > 1:
        raise ConfigError(
            f"study.judges: {ways[True]} compares answers (mechanism={own[ways[True]].name}) and "
            f"{ways[False]} grades them ({own[ways[False]].name}): a pool votes in one way, so "
            "give all judges mechanisms of one kind."
        )
    return judges


def unasked(context: Context, judges: Mapping[str, NamedJudge] | None) -> tuple[str, ...]:
    """A sentence where LMs are named that a mechanism has no use for."""
    if not judges or not asks_nobody(context.mechanism):
        return ()
    name = context.mechanism.name
    return (
        f"mechanism={name} asks no LM and is one judge, {name}: the LMs of study.judges "
        f"({', '.join(judges)}) were not asked.",
    )


def _ways(answers: Sequence[Answers], judges: Sequence[str]) -> dict[str, str]:
    """How the judges were asked, where that may differ."""
    ways: dict[str, list[str]] = {}
    for judge, said in zip(judges, answers, strict=True):
        if said.way:
            ways.setdefault(said.way, []).append(judge)
    return (
        {"by": "; ".join(f"{way} ({', '.join(who)})" for way, who in ways.items())} if ways else {}
    )


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
        for helper, lm in exam.helpers(context.writer).items():
            if Capability.CHAT not in lm.capabilities:
                raise CapabilityError(
                    f"study.{name} has texts written by an LM that can chat: choose evaluation_lm@"
                    f"writer_lm=OPTION, or +evaluation_lm@study.{name}.{helper}=OPTION."
                )
        for judge in exam.named_judges:
            if judge not in judges:
                raise ConfigError(
                    f"study.{name}: no judge is called {judge!r}.{did_you_mean(judge, judges)}"
                )


def _arrays(
    asked: Mapping[str, Context], data: Mapping[str, xr.Dataset], pairs: Counts
) -> tuple[Floats | None, Floats | None]:
    """Verdicts where the mechanisms compare answers, else grades."""
    compare = ["verdict" in each for each in data.values()]
    if all(compare):
        verdicts = [each["verdict"].values for each in data.values()]
        return both_orders(np.stack(verdicts), pairs), None
    if any(compare):
        raise ConfigError(
            "study.judges: some compare answers and others grade them: a pool votes in one way, so "
            "give all judges mechanisms of one kind."
        )
    grades = [asked[name].mechanism.score(each).agent.values for name, each in data.items()]
    return None, np.stack(grades)
