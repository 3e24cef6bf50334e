"""The mechanism's questions and the exams, put to every judge, with controls beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import CapabilityError, ConfigError, did_you_mean
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.references import without_reference_texts
from judgelab.engine.usage import UsageCount
from judgelab.exam import superficial
from judgelab.exam.protocol import Answers, Exam, ExamPaper, NotHeldError
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import Bools, ExamAnswers, Shares, over
from judgelab.study.common.judges import NamedJudge, asks_nobody
from judgelab.study.qualification.controls import LENGTH, ByScore, Control
from judgelab.study.qualification.costs import ExamUsage
from judgelab.study.qualification.judge_responses import (
    Counts,
    JudgeResponses,
    both_orders,
    confidences_of,
    stacked,
    ties_of,
    used,
)


def ask(
    context: Context,
    panel: Panel,
    pairs: Counts,
    asked: Mapping[str, Context],
    exams: Mapping[str, Exam],
    controls: Sequence[Control] = (),
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge, each in its context.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    if asks_nobody(context.mechanism):
        exams = {name: exam.judged_by(ByScore(context.mechanism)) for name, exam in exams.items()}
    judges = judges_of(asked)
    _able(context, judges, exams)
    counted = {name: _writers(context, exam) for name, exam in exams.items()}
    exams = {name: exam for name, (exam, _) in counted.items()}
    writers = {name: each for name, (_, each) in counted.items()}
    papers, missing = _papers(context, panel, exams, writers)
    said = _sitting(context, panel, asked, exams, papers)
    beside = {
        name: Beside(
            context, exams[name], papers[name], dict(zip(judges, said.answers[name], strict=True))
        )
        for name in said.taken
    }
    made = _responses(asked, said, pairs, papers, writers, missing)
    with_length = beside if "length" in controls else {}
    return replace(
        made,
        controls={name: one.controls() for name, one in with_length.items()},
        leads={name: one.leads() for name, one in with_length.items()},
        gaps={name: one.gaps() for name, one in beside.items() if exams[name].content},
    )


@dataclass(frozen=True)
class Sitting:
    """What every judge said, and what asking it took.

    Attributes:
        measured: judge -> its verdicts or grades.
        answers: exam -> each judge's.
        bills: each judge's, for verdicts or grades.
        exam_bills: exam -> each judge's.
    """

    measured: Mapping[str, xr.Dataset]
    answers: Mapping[str, Sequence[Answers]]
    bills: Sequence[UsageCount]
    exam_bills: Mapping[str, Sequence[UsageCount]]

    @property
    def taken(self) -> dict[str, Bools]:
        """Exam -> [judges] who took it; without exams that nobody took."""
        took = {
            name: np.array([not one.absence for one in each]) for name, each in self.answers.items()
        }
        return {name: each for name, each in took.items() if each.any()}


def _sitting(
    context: Context,
    panel: Panel,
    asked: Mapping[str, Context],
    exams: Mapping[str, Exam],
    papers: Mapping[str, ExamPaper],
) -> Sitting:
    """Ask one judge after the other, about the panel and then in the exams."""
    measured, answers = {}, {name: list[Answers]() for name in papers}
    bills, sat = [], {name: list[UsageCount]() for name in papers}
    for judge, own in asked.items():
        lm, among_all = own.evaluation_lm, own.mechanism.subject == "pair"
        bills.append(UsageCount(lm))
        context.tell(judge, 0)
        shown = panel if among_all else without_reference_texts(panel)
        measured[judge] = replace(own, evaluation_lm=bills[-1], spread=alone).measure(shown)
        for name, paper in papers.items():
            context.tell(f"{judge}, {name}", 0)
            sat[name].append(UsageCount(lm))
            said = exams[name].of(judge).take(paper, sat[name][-1], seed=context.seed)
            if said.absence and asks_nobody(context.mechanism):
                said = replace(said, absence=f"mechanism={judge} does not say how sure it is")
            answers[name].append(said)
    return Sitting(measured, answers, bills, sat)


def _responses(
    asked: Mapping[str, Context],
    said: Sitting,
    pairs: Counts,
    papers: Mapping[str, ExamPaper],
    writers: Mapping[str, Mapping[str, UsageCount]],
    missing: Sequence[str],
) -> JudgeResponses:
    """What the judges said as arrays, with its cost."""
    judges, taken, spent = tuple(said.measured), said.taken, used(said.bills)
    verdicts, grades = _arrays(asked, said.measured, pairs)
    return JudgeResponses(
        judges,
        pairs,
        verdicts,
        grades,
        {name: stacked(said.answers[name]) for name in taken},
        spent.calls,
        spent.input_tokens,
        spent.output_tokens,
        taken,
        {name: {**papers[name].facts, **_ways(said.answers[name], judges)} for name in taken},
        ties_of(said.answers, len(judges)),
        (*missing, *_absences(said.answers, judges)),
        measured=said.measured,
        exam_usage={
            name: ExamUsage(
                used(each),
                used([one.beyond(bill) for one, bill in zip(each, said.bills, strict=True)]),
                used(list(writers[name].values())),
                writers[name],
            )
            for name, each in said.exam_bills.items()
        },
        confidences=confidences_of(judges, said.answers.get("self_confidence", ())),
    )


def _writers(context: Context, exam: Exam) -> tuple[Exam, dict[str, UsageCount]]:
    """The exam with an account for each LM of its own, and these and the run's writer."""
    found = {"the writer": UsageCount(context.writer)}

    def count(name: str, lm: EvaluationLM) -> EvaluationLM:
        return found.setdefault(name, UsageCount(lm))

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


@dataclass(frozen=True)
class Beside:
    """What stands beside the judges' answers in an exam."""

    context: Context
    exam: Exam
    paper: ExamPaper
    answers: Mapping[str, Answers]

    def _papers(self) -> dict[str, ExamPaper]:
        """What each judge was asked; of all together where that is the same."""
        if not self.paper.questions:
            return {"all": self.paper}
        return {judge: said.paper for judge, said in self.answers.items() if said.paper is not None}

    def _by_length(self) -> dict[str, Answers]:
        """What the control answers to each of these papers."""
        control, lm = self.exam.judged_by(LENGTH), self.context.evaluation_lm
        papers = self._papers().items()
        return {who: control.take(paper, lm, seed=self.context.seed) for who, paper in papers}

    def controls(self) -> dict[str, ExamAnswers]:
        """Of length; where judges write answers themselves, of all that they wrote."""
        found = list(self._by_length().values())
        joined = replace(found[0], scored=np.concatenate([one.scored for one in found], axis=1))
        return {"length": stacked([replace(joined, asked=None)])}

    def leads(self) -> dict[str, Shares]:
        """Over length, in exams that are about content."""
        if not self.exam.content:
            return {}
        found = self._by_length()
        control = [found.get(who, found.get("all", said)) for who, said in self.answers.items()]
        given, theirs = (
            np.stack([one.scored for one in each]) for each in (self.answers.values(), control)
        )
        put = [
            np.ones(one.scored.shape, dtype=np.bool_) if one.asked is None else one.asked
            for one in self.answers.values()
        ]
        return {"length": over(given, theirs, np.stack(put))}

    def gaps(self) -> dict[tuple[str, str], Floats]:
        """Relevant answer minus irrelevant one, by whom it was read."""
        lm = self.context.evaluation_lm
        return {
            (who, measure): paper.by_item(values[:, None])
            for who, paper in self._papers().items()
            for measure, values in superficial.gaps(paper.panels[0], lm).items()
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
