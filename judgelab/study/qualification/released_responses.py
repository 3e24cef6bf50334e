"""What was recorded of the judges of the Auto-PRE release, read instead of asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.panel import Panel
from judgelab.exam.protocol import Answers, Exam
from judgelab.releases.auto_pre import AutoPreRecords, changes, confidence, pertinence
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import ExamAnswers, tied, unchanged
from judgelab.study.qualification.costs import ExamUsage, Usage
from judgelab.study.qualification.judge_responses import (
    JudgeResponses,
    both_orders,
    confidences_of,
    stacked,
    ties_of,
)

Rows = NDArray[np.int64]
FORMS = {"pairwise": "pairwise", "pointwise5": "5-level", "pointwise100": "100-level"}
"""Mechanism -> what the release calls that format."""
DEBATES = ("chatEval", "chatEval_two_turns")
"""What the release lists among the judges, and the paper as a method to be compared with."""
CHOOSE = {
    "consistency": "all recorded pairs count, answers changing places",
    "pertinence": "dataset.relevant, dataset.irrelevant and dataset.prompt choose among recorded "
    "ones",
    "self_confidence": "dataset.confidence chooses among recorded ones",
}
"""Exam -> what there is to be chosen about it."""


@runtime_checkable
class RecordedJudges(Protocol):
    """An LM whose answers are many judges' recorded ones."""

    @property
    def incomplete(self) -> str:
        """``unscored`` or ``as_recorded``: what becomes of calls that failed."""
        ...

    def judges(self, panel: Panel) -> AutoPreRecords:
        """Everything that they said about the panel's dataset."""
        ...


def recall(
    lm: RecordedJudges,
    panel: Panel,
    pairs: NDArray[np.int64],
    mechanism: str,
    named: Sequence[str] | None,
    exams: Mapping[str, Exam],
) -> JudgeResponses:
    """What the judges said about a panel of dataset=auto_pre_released.

    Args:
        mechanism: which format.
        named: judges; None: those with a pertinence exam, else all with verdicts.
        exams: those wanted. How they are asked is recorded with them.

    Raises:
        ConfigError: no such format or exam was recorded, a judge is unknown, or an exam has
            settings that recorded answers cannot follow.
        DataError: the panel is not of that release.
    """
    data = lm.judges(panel)
    _refuse_settings(mechanism, exams)
    rows = np.array([data.tasks.index(int(item.id)) for item in panel.items])
    form = FORMS[mechanism]
    pairwise = form == "pairwise"
    replies, scored = _cells(data, form, lm.incomplete)
    judges = _named(data, scored, named)
    cells = np.stack([scored[judge] for judge in judges])[:, rows]
    recorded = np.stack([~np.isnan(replies[judge]) for judge in judges])[:, rows]
    usage = Usage.recorded(recorded.reshape(len(judges), -1).sum(axis=1, dtype=np.int64))
    found = {name: EXAMS[name](data, judges, panel, rows) for name in exams}
    taken = {name: each for name, each in found.items() if each is not None}
    absent = [_unrecorded(name, data.name) for name in found if name not in taken]
    made = JudgeResponses(
        judges,
        pairs,
        both_orders(cells, pairs) if pairwise else None,
        None if pairwise else cells,
        {},
        *(usage.calls, usage.input_tokens, usage.output_tokens),
        taken={},
        facts={name: facts for name, (_, facts) in taken.items()},
        tied=ties_of({}, len(judges)),
        missing=(*absent, *_doubts(data, judges, rows, form)),
    )
    return _with_exams(made, {name: said for name, (said, _) in taken.items()})


def _with_exams(made: JudgeResponses, answers: Mapping[str, Sequence[Answers]]) -> JudgeResponses:
    """The same with what was said in the exams."""
    marked = {name: stacked(said) for name, said in answers.items()}
    return replace(
        made,
        exams=marked,
        taken={name: each.n > 0 for name, each in marked.items()},
        tied=ties_of(answers, len(made.judges)),
        exam_usage=_exam_usage(made.usage, marked, made.verdicts is not None),
        confidences=confidences_of(made.judges, answers.get("self_confidence", ())),
    )


def _cells(
    data: AutoPreRecords, form: str, incomplete: str
) -> tuple[Mapping[str, Floats], Mapping[str, Floats]]:
    """Judge -> what was replied at all, and what counts of it."""
    if form != "pairwise":
        return data.graded[form], data.grades.get(form, {})
    return data.verdict, data.verdict if incomplete == "as_recorded" else data.read


def _unrecorded(exam: str, dataset: str) -> str:
    return (
        f"Exam {exam}: no answers of these judges were recorded on {dataset}, so that no judge "
        "took it and no pool requires it."
    )


def _exam_usage(
    verdicts: Usage, exams: Mapping[str, ExamAnswers], pairwise: bool
) -> dict[str, ExamUsage]:
    """The consistency exam is the recorded verdicts; of others, the questions with a reply."""
    found = {}
    for name, answers in exams.items():
        asked = Usage.recorded(np.where(answers.n > 0, answers.n + answers.unscored, 0))
        if name == "consistency" and pairwise:
            found[name] = ExamUsage(verdicts, Usage.recorded(np.zeros_like(verdicts.calls)))
        else:
            found[name] = ExamUsage(asked, asked)
    return found


def _refuse_settings(mechanism: str, exams: Mapping[str, Exam]) -> None:
    if mechanism not in FORMS:
        raise ConfigError(
            f"evaluation_lm=replay has no verdicts by mechanism={mechanism}: choose "
            f"{', '.join(FORMS)}."
        )
    for name, exam in exams.items():
        for changed in _changed(exam)[:1]:
            raise ConfigError(
                f"study.{name}.{changed} does nothing to recorded verdicts: leave it as it is "
                f"({CHOOSE[name]}), or set study.{name}=null."
            )


def _changed(settings: object, path: str = "") -> list[str]:
    """Fields of a dataclass, and of those in it, that have another value than by default."""
    found = []
    assert is_dataclass(settings)
    for each in fields(settings):
        value, default = getattr(settings, each.name), each.default
        if is_dataclass(value):
            if default is not MISSING and type(value) is not type(default):
                found.append(f"{path}{each.name}")
            found += _changed(value, f"{path}{each.name}.")
        elif default is not MISSING and _plain(value) != _plain(default):
            found.append(f"{path}{each.name}")
    return found


def _plain(value: object) -> object:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _named(
    data: AutoPreRecords, scored: Mapping[str, Floats], named: Sequence[str] | None
) -> tuple[str, ...]:
    if named is not None:
        if not named or len(set(named)) < len(named):
            raise ConfigError(
                f"study.recorded={list(named)}: name each judge once, and one at least; null: "
                "those with a pertinence exam, else all."
            )
        for name in named:
            if name not in scored:
                lacks = "".join(f" {said}" for said in data.absent if name in said)
                raise ConfigError(
                    f"study.recorded, study.methods: nothing was recorded of {name!r}."
                    f"{did_you_mean(name, scored)}{lacks}"
                )
        return tuple(named)
    examined = set(map(str, data.pertinence["evaluator"]))
    found = tuple(judge for judge in scored if judge in examined) or tuple(scored)
    if not found:
        raise ConfigError(f"Nothing was recorded in this format on {data.name}.")
    return found


Recorded = tuple[list[Answers], dict[str, object]]
"""Each judge's answers in an exam, of the tasks of ``rows``, and how the exam was set."""


def _consistency(
    data: AutoPreRecords, judges: Sequence[str], panel: Panel, rows: Rows
) -> Recorded | None:
    if not any(judge in data.read for judge in judges):
        return None
    nothing = np.full((2, len(data.tasks), len(data.pairs)), np.nan)
    answers = []
    for judge in judges:
        twice = changes(data, judge) if judge in data.read else nothing
        before, after = (cells[rows] for cells in twice)
        answers.append(Answers(unchanged(before, after), tied=tied(before, after)))
    return answers, {"change": "position"}


def _pertinence(
    data: AutoPreRecords, judges: Sequence[str], panel: Panel, rows: Rows
) -> Recorded | None:
    if not len(data.pertinence):
        return None
    origin, prompt = panel.provenance.get("exam"), panel.provenance.get("exam_prompt")
    assert isinstance(origin, dict) and isinstance(prompt, int)
    known = data.pertinence
    relevant, irrelevant = str(origin["relevant"]), str(origin["irrelevant"])
    facts: dict[str, object] = {"relevant": relevant, "irrelevant": irrelevant, "prompt": prompt}
    for (key, value), column in zip(facts.items(), ("L1_RA", "L2_IA", "prompt"), strict=True):
        _refuse_unknown(f"{key}={value}", value, known[column], "pertinence", data)
        known = known[known[column] == value]
    won = [pertinence(data, judge, relevant, irrelevant, prompt) for judge in judges]
    return ([Answers(each[rows]) for each in won], facts) if np.isfinite(won).any() else None


def _confidence(
    data: AutoPreRecords, judges: Sequence[str], panel: Panel, rows: Rows
) -> Recorded | None:
    if not len(data.confidence):
        return None
    way = panel.provenance.get("exam_confidence")
    asked = data.confidence
    known = asked["method"].astype(str) + ", " + asked["prompt"].astype(str)
    assert way is None or isinstance(way, str)
    if way is not None:
        _refuse_unknown(f"confidence={way!r}", way, known, "self-confidence", data)
    nothing = np.full((len(data.tasks), 2), np.nan)
    found = [confidence(data, judge, way) or (nothing, nothing, None) for judge in judges]
    facts: dict[str, object] = {
        judge: each[2] for judge, each in zip(judges, found, strict=True) if each[2]
    }
    answers = [Answers(easy[rows], hard[rows]) for easy, hard, _ in found]
    return (answers, facts) if facts else None


def _refuse_unknown(
    given: str, value: object, known: Iterable[object], exam: str, data: AutoPreRecords
) -> None:
    options = set(known)
    if value not in options:
        raise ConfigError(
            f"dataset.{given}: no such {exam} exam was recorded on {data.name}."
            f"{did_you_mean(str(value), map(str, options))}"
        )


EXAMS = {"consistency": _consistency, "pertinence": _pertinence, "self_confidence": _confidence}


def _doubts(data: AutoPreRecords, judges: Sequence[str], rows: Rows, form: str) -> tuple[str, ...]:
    """What recorded verdicts cannot tell, and which of the judges are methods."""
    said = []
    if form == "pairwise":
        counts = {judge: int(data.unlabelled[judge][rows].sum()) for judge in judges}
        if named := [f"{judge} ({count})" for judge, count in counts.items() if count]:
            said.append(
                f"No label says whether these verdicts for neither answer are ties or could not "
                f"be read (how many): {', '.join(named)}. They count as ties, which agree with "
                "one another, and none of them as unscored."
            )
    if debates := [judge for judge in judges if judge in DEBATES]:
        said.append(
            f"The paper compares {', '.join(debates)} with its pools as a method; here it takes "
            "exams and joins pools as a judge. study.recorded=[JUDGE,...] leaves it out."
        )
    return tuple(said)
