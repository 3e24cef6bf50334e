"""What can be said of judges without labels: exams, consistency, and the panel's blind spots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from judgelab.core.bounds import Count
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.exam.protocol import Answers, Exam, NotHeldError
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.exams import (
    ConfidenceAnswers,
    Shares,
    Threshold,
    confidence,
    mark,
    over_chance,
    shares,
)
from judgelab.study.audit.blind_spots import (
    Panelled,
    held_against_people,
    judges_table,
    label_table,
    map_table,
    reading_table,
    sentences,
)
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.common.tables import columns

FEW = (
    "What judges say of each other needs three judges or more, of two families at least: name more "
    "of them in study.judges."
)
NO_EXAMS = (
    "Exams need judges that can be asked now (study.judges, or mechanism and evaluation_lm), and "
    "texts: recorded verdicts answer no new questions."
)


@dataclass(frozen=True)
class Alone(AuditPart):
    """Exams, consistency and agreement; where labels are, also what that was worth.

    Args:
        exams: name -> exam; null: left out. Every judge's LM takes them.
        items: that the exams are about, the first ones; null: all.
        label: units that are named to be labelled.
    """

    exams: Mapping[str, Any]
    items: Count | None = 50
    label: Count = 30
    name: ClassVar[str] = "alone"
    question: ClassVar[str] = "What can be said without labels?"

    @property
    def _exams(self) -> dict[str, Exam]:
        return {name: exam for name, exam in self.exams.items() if exam is not None}

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Alone:
        """See AuditPart."""

        def placed(exam: str, name: str, lm: EvaluationLM) -> EvaluationLM:
            return use(f"exams.{exam}.{name}", lm)

        made = {name: one.with_lms(partial(placed, name)) for name, one in self._exams.items()}
        return replace(self, exams=made)

    def ask(self, case: AuditCase) -> None:
        """Every exam, of every judge."""
        for _ in self._taken(case):
            pass

    def run(self, case: AuditCase) -> Findings:
        """Exams, and the panel's reading."""
        tables, notes = list[Table](), list[str]()
        if sat := list(self._taken(case)):
            tables.append(_exams_table(sat, case))
            notes += [f"{exam}, {judge}: {said}" for exam, judge, said in _absent(sat)]
        elif not case.asked:
            notes.append(NO_EXAMS)
        panel = Panelled.of(case.table, case.seed, case.draws)
        if len(panel.table.judges) > 1 and len(set(panel.family)) > 1:
            groups = panel.groups()
            whole = groups[0].reading
            tables += [
                judges_table(panel, whole),
                reading_table(panel, groups),
                map_table(panel, groups),
                label_table(panel, whole, self.label),
            ]
            notes += sentences(panel, groups, held_against_people(panel, whole))
        else:
            notes.append(FEW)
        made = [table for table in tables if table.rows]
        drawn = ["audit_disagreement"] if any(t.name == "disagreement_map" for t in made) else []
        lacking = "" if made else " ".join(notes)
        return Findings(tables=made, figures=drawn, notes=notes, lacking=lacking)

    def _taken(self, case: AuditCase) -> Iterator[tuple[str, str, Answers | str]]:
        """(exam, judge, its answers or why there are none)."""
        panel = replace(case.panel.head(self.items), judgments=None)
        judges = {
            name: context
            for name, context in case.asked.items()
            if frozenset() not in context.mechanism.requires
        }
        for name, exam in self._exams.items() if judges and _comparable(panel) else ():
            try:
                paper = exam.prepare(panel, case.context.writer, seed=case.seed)
            except (NotHeldError, ConfigError, CapabilityError) as cause:
                yield name, "every judge", f"not held: {cause}."
                continue
            for judge, context in judges.items():
                if not exam.requires <= context.evaluation_lm.capabilities:
                    yield name, judge, f"not taken: needs {', '.join(sorted(exam.requires))}."
                    continue
                context.tell(f"{judge}, {name}", 0)
                said = exam.of(judge).take(paper, context.evaluation_lm, seed=case.seed)
                yield name, judge, said if not said.absence else f"not taken: {said.absence}."


def _comparable(panel: Panel) -> bool:
    """Whether some item has two texts."""
    return any(sum(text is not None for text in row) > 1 for row in panel.texts)


def _absent(sat: list[tuple[str, str, Answers | str]]) -> Iterator[tuple[str, str, str]]:
    for exam, judge, said in sat:
        if isinstance(said, str):
            yield exam, judge, said


def _exams_table(sat: list[tuple[str, str, Answers | str]], case: AuditCase) -> Table:
    rows: list[Row] = [
        {"judge": judge, "exam": exam, **_marked(said, case)}
        for exam, judge, said in sat
        if not isinstance(said, str)
    ]
    note = (
        "consistency, wording: share of pairs with the same verdict after the texts change places, "
        "or the question its words. pertinence: share of verdicts for the answer that is about the "
        "question, against a well-written one about another. self_confidence: how much surer the "
        "judge is where answers differ much than where they differ little. p: two-sided, that it "
        "is no better than a coin. An exam that is passed is no proof of agreement with people."
    )
    return Table("exams", "Exams without labels", rows, note)


def _marked(said: Answers, case: AuditCase) -> dict[str, Value]:
    """An exam's number with its interval, and the p that it is that of a coin."""
    put = None if said.asked is None else said.asked[None]
    answers: Shares | ConfidenceAnswers
    if said.hard is None:
        answers = shares(said.scored[None], put)
    else:
        hard_put = None if said.hard_asked is None else said.hard_asked[None]
        answers = confidence(said.scored[None], said.hard[None], put, hard_put)
    chance = {"coin": over_chance(answers)}
    found = mark(answers, Threshold("fixed", 0.5), case.draws, case.seed, chance)
    value, low, high = (
        (found.value[0], found.low[0], found.high[0]) if found.gap is None else found.gap[:, 0]
    )
    p = found.leads["coin"][0].p
    n, unscored = int(found.n[0]), int(found.unscored[0])
    return columns(Estimate(float(value), float(low), float(high), n, unscored, p))
