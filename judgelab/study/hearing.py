"""What every judge said about a panel and in the exams: asked now, or read where recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.errors import CapabilityError, ConfigError, did_you_mean
from judgelab.evaluation_lm.counted import Counted
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.evaluation_lm.replay import Replay
from judgelab.exam.protocol import Answers, Exam
from judgelab.panel import Panel
from judgelab.scale.protocol import alone
from judgelab.stats.exams import ExamAnswers, confidence, shares, unchanged
from judgelab.stats.pooling import gaps_of, votes_of
from judgelab.store.auto_pre import Recorded
from judgelab.store.auto_pre_exams import changes, pertinence
from judgelab.store.auto_pre_exams import confidence as recorded_confidence
from judgelab.study.lab import Lab

Floats = NDArray[np.float64]
FORMS = {"pairwise": "pairwise", "pointwise5": "5-level", "pointwise100": "100-level"}
"""Mechanism -> what the release calls that format."""


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
        tokens: [judges] tokens of a question, on average and estimated; NaN where not known.
        sat: exam -> [judges] who sat it; whose answers are all unreadable has sat it too.
        facts: exam -> how it was set.
        measured: judge -> what the mechanism measured (asked now), for the records.
    """

    judges: tuple[str, ...]
    pairs: NDArray[np.int64]
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    calls: NDArray[np.int64]
    tokens: Floats
    sat: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    measured: Mapping[str, xr.Dataset] = field(default_factory=dict)

    def votes(self, orders: str = "merged") -> Floats:
        """[judges, items, pairs(, orders)] for the pair's first answer, as ``pooling.decide``."""
        if self.verdicts is not None:
            return votes_of(self.verdicts, "merged" if orders == "merged" else "per_order")
        assert self.grades is not None
        return gaps_of(self.grades, self.pairs)


def ask(
    lab: Lab,
    panel: Panel,
    pairs: NDArray[np.int64],
    judges: Mapping[str, EvaluationLM],
    exams: Mapping[str, Exam],
) -> Hearing:
    """Put the mechanism's questions and the exams to every judge.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    _able(lab, judges, exams)
    papers = {name: exam.prepare(panel, lab.writer, seed=lab.seed) for name, exam in exams.items()}
    measured, answers = {}, {name: list[Answers]() for name in exams}
    tallies = []
    for judge, lm in judges.items():
        counted = Counted(lm)
        counted.begin(judge)
        if lab.mechanism.measurement != "text":
            lab.mechanism.measure(panel, counted, seed=lab.seed)
        tallies.append(counted.stages[judge])
        lab.tell(judge, 0)
        measured[judge] = replace(lab, evaluation_lm=lm, spread=alone).measure(panel)
        for name, exam in exams.items():
            lab.tell(f"{judge}, {name}", 0)
            answers[name].append(exam.sit(papers[name], lm, seed=lab.seed))
    verdicts, grades = _arrays(lab, list(measured.values()), pairs)
    return Hearing(
        tuple(judges),
        pairs,
        verdicts,
        grades,
        {name: _stacked(each) for name, each in answers.items()},
        np.array([tally.calls for tally in tallies], dtype=np.int64),
        np.array([t.input_tokens / t.calls if t.calls else np.nan for t in tallies]),
        {name: np.ones(len(judges), dtype=np.bool_) for name in exams},
        {name: paper.facts for name, paper in papers.items()},
        measured,
    )


def recall(
    lm: Replay, panel: Panel, pairs: NDArray[np.int64], mechanism: str, named: Sequence[str] | None
) -> Hearing:
    """What was recorded of the judges of the Auto-PRE release.

    Args:
        lm: the replay.
        panel: of dataset=auto_pre_released.
        pairs: of its agents.
        mechanism: which format.
        named: judges; None: those who sat the pertinence exam, else all with verdicts.

    Raises:
        ConfigError: no such format was recorded, or a judge is unknown.
        DataError: the panel is not of that release.
    """
    data = lm.judges(panel)
    if mechanism not in FORMS:
        raise ConfigError(
            f"evaluation_lm=replay has no verdicts by mechanism={mechanism}: choose "
            f"{', '.join(FORMS)}."
        )
    rows = [data.tasks.index(int(item.id)) for item in panel.items]
    told = _told(data, FORMS[mechanism], as_released=lm.incomplete == "as_recorded")
    judges = _named(data, told, named)
    cells = np.stack([told[judge] for judge in judges])[:, rows]
    exams, facts = _recorded_exams(data, judges, panel, np.array(rows))
    form = FORMS[mechanism]
    first, second = pairs.T
    verdicts = grades = None
    if form == "pairwise":
        verdicts = np.stack([cells[:, :, first, second], 1 - cells[:, :, second, first]], axis=-1)
    else:
        grades = cells
    calls = np.count_nonzero(~np.isnan(cells.reshape(len(judges), -1)), axis=1)
    return Hearing(
        judges,
        pairs,
        verdicts,
        grades,
        exams,
        calls.astype(np.int64),
        np.full(len(judges), np.nan),
        {name: answers.n > 0 for name, answers in exams.items()},
        facts,
    )


def _able(lab: Lab, judges: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]) -> None:
    for name, exam in exams.items():
        for judge, lm in judges.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot sit study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if not exam.setter <= lab.writer.capabilities:
            raise CapabilityError(
                f"study.{name} has its questions set by an LM that can do "
                f"{', '.join(sorted(exam.setter))}: choose evaluation_lm@writer_lm=OPTION."
            )


def _arrays(
    lab: Lab, data: Sequence[xr.Dataset], pairs: NDArray[np.int64]
) -> tuple[Floats | None, Floats | None]:
    """Verdicts where the mechanism compares answers, else grades."""
    first, second = pairs.T
    if all("verdict" in each for each in data):
        cells = np.stack([each["verdict"].values for each in data])
        return np.stack([cells[:, :, first, second], 1 - cells[:, :, second, first]], -1), None
    return None, np.stack([lab.mechanism.score(each).agent.values for each in data])


def _stacked(answers: Sequence[Answers]) -> ExamAnswers:
    scored = np.stack([each.scored for each in answers])
    hard = [each.hard for each in answers if each.hard is not None]
    return confidence(scored, np.stack(hard)) if hard else shares(scored)


def _told(data: Recorded, form: str, *, as_released: bool) -> Mapping[str, Floats]:
    if form == "pairwise":
        return data.verdict if as_released else data.read
    return data.grades.get(form, {})


def _named(
    data: Recorded, told: Mapping[str, Floats], named: Sequence[str] | None
) -> tuple[str, ...]:
    if named is not None:
        for name in named:
            if name not in told:
                raise ConfigError(
                    f"study.recorded: nothing was recorded of {name!r}.{did_you_mean(name, told)}"
                )
        return tuple(named)
    sat = dict.fromkeys(map(str, data.pertinence["evaluator"]))
    found = tuple(judge for judge in told if judge in sat) or tuple(told)
    if not found:
        raise ConfigError(f"Nothing was recorded in this format on {data.name}.")
    return found


def _recorded_exams(
    data: Recorded, judges: Sequence[str], panel: Panel, rows: NDArray[np.int64]
) -> tuple[dict[str, ExamAnswers], dict[str, dict[str, object]]]:
    exams: dict[str, ExamAnswers] = {}
    facts: dict[str, dict[str, object]] = {}
    if all(judge in data.read for judge in judges):
        swapped = [unchanged(*changes(data, judge))[rows] for judge in judges]
        exams["consistency"] = shares(np.stack(swapped))
        facts["consistency"] = {"change": "position"}
    origin, prompt = panel.provenance.get("exam"), panel.provenance.get("exam_prompt")
    assert isinstance(origin, dict) and isinstance(prompt, int)
    first, second = str(origin["relevant"]), str(origin["irrelevant"])
    won = [pertinence(data, judge, first, second, prompt)[rows] for judge in judges]
    if any(np.isfinite(cells).any() for cells in won):
        exams["pertinence"] = shares(np.stack(won))
        facts["pertinence"] = {"relevant": first, "irrelevant": second, "prompt": prompt}
    sat = {judge: recorded_confidence(data, judge) for judge in judges}
    if any(each is not None for each in sat.values()):
        nothing = np.full((len(data.tasks), 2), np.nan)
        easy = [nothing if s is None else s[0] for s in sat.values()]
        hard = [nothing if s is None else s[1] for s in sat.values()]
        exams["self_confidence"] = confidence(np.stack(easy)[:, rows], np.stack(hard)[:, rows])
        facts["self_confidence"] = {judge: s[2] for judge, s in sat.items() if s is not None}
    return exams, facts
