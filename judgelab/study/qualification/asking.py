"""The mechanism's questions and the exams, put to every judge, with controls beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr

from judgelab.calls.log import LoggedLM
from judgelab.core.errors import CapabilityError, ConfigError, did_you_mean
from judgelab.core.lm import Capability, EvaluationLM
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
    judges, lms = tuple(asked), judges_of(asked)
    if asks_nobody(context.mechanism):
        exams = {name: exam.asked_by(ByScore(context.mechanism)) for name, exam in exams.items()}
    _able(context, lms, exams)
    writers = {name: {"the writer": LoggedLM(context.writer)} for name in exams}
    exams = {name: exam.with_lms(partial(_logged, writers[name])) for name, exam in exams.items()}
    papers, missing = _papers(context, panel, exams, writers)
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
            lm, exam = examined[name][judge], exams[name].of(judge)
            answers[name][judge] = _answers(context, exam, paper, lm)
    taken = {
        name: np.array([not one.absence for one in each.values()])
        for name, each in answers.items()
        if not all(one.absence for one in each.values())
    }
    beside = {
        name: _beside(context, exams[name], papers[name], answers[name], controls) for name in taken
    }
    verdicts, grades = _arrays(asked, measured, pairs)
    return JudgeResponses(
        judges,
        pairs,
        verdicts,
        grades,
        exams={name: stacked([*answers[name].values()]) for name in taken},
        cost=prices.asked(voting),
        taken=taken,
        facts={name: {**papers[name].facts, **_ways(answers[name])} for name in taken},
        tied=ties_of([*answers.get("consistency", {}).values()], len(judges)),
        missing=(*missing, *_absences(answers)),
        controls={name: got for name, (got, _, _) in beside.items() if got},
        leads={name: leads for name, (_, leads, _) in beside.items() if leads},
        gaps={name: gaps for name, (_, _, gaps) in beside.items() if gaps},
        measured=measured,
        exam_costs={
            name: (prices.asked(own), prices.asked(own, voting), prices.asked(writers[name]).sum())
            for name, own in examined.items()
        },
        confidences={
            judge: (each.scored, each.hard)
            for judge, each in answers.get("self_confidence", {}).items()
            if each.hard is not None and not np.isnan(each.scored).all()
        },
    )


def _answers(context: Context, exam: Exam, paper: ExamPaper, lm: EvaluationLM) -> Answers:
    answers = exam.take(paper, lm, seed=context.seed)
    if answers.absence and asks_nobody(context.mechanism):
        absence = f"mechanism={context.mechanism.name} does not say how sure it is"
        return replace(answers, absence=absence)
    return answers


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


def _logged(writers: dict[str, LoggedLM], name: str, lm: EvaluationLM) -> EvaluationLM:
    return writers.setdefault(name, LoggedLM(lm))


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


def refuse_unfit(judges: Mapping[str, NamedJudge]) -> Mapping[str, NamedJudge]:
    """The judges.

    Raises:
        ConfigError: one asks no LM, or reads other texts.
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
    return judges


def refuse_mixed(asked: Mapping[str, Context]) -> None:
    """A pool votes in one way.

    Raises:
        ConfigError: one judge compares answers and another grades them.
    """
    ways = {
        own.mechanism.subject == "choice": f"{name} (mechanism={own.mechanism.name})"
        for name, own in asked.items()
    }
    if len(ways) > 1:
        raise ConfigError(
            f"study.judges: {ways[True]} compares answers, and {ways[False]} grades them: give all "
            "judges mechanisms of one kind."
        )


def unasked(context: Context, judges: Mapping[str, NamedJudge] | None) -> tuple[str, ...]:
    """A sentence where LMs are named that a mechanism has no use for."""
    if not judges or not asks_nobody(context.mechanism):
        return ()
    name = context.mechanism.name
    return (
        f"mechanism={name} asks no LM and is one judge, {name}: the LMs of study.judges "
        f"({', '.join(judges)}) were not asked.",
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
    if all(own.mechanism.subject == "choice" for own in asked.values()):
        verdicts = np.stack([each["verdict"].values for each in data.values()])
        return both_orders(verdicts, pairs), None
    grades = [asked[name].mechanism.score(each).agent.values for name, each in data.items()]
    return None, np.stack(grades)
