"""The page of an audit: title, answer, cards, chart and tables, from what was decided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judgelab.core.estimator import Estimator
from judgelab.core.panel import Panel
from judgelab.core.result import Chart, Headline, PageSection, Result, Row, Table, Value
from judgelab.engine.provenance import origin_of
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.averages import AverageAnswer
from judgelab.study.audit.conditions import WORDS, Evidence, Word
from judgelab.study.audit.details import disagreements
from judgelab.study.audit.held import Held
from judgelab.study.audit.words import STANDINGS, answer, cards, say
from judgelab.study.common.stopping import Elimination
from judgelab.study.common.tables import named_columns as columns
from judgelab.study.common.templates import render, table

MARKS: Mapping[Word, str] = {"use": "use", "not known yet": "open", "do not use": "no"}
HEADLINES = (
    Headline("verdict", "Verdict"),
    Headline("best_agreement", "Agreement with people", people=True),
)


class Audited(NamedTuple):
    """All that a page is made of.

    Attributes:
        judged: of each judge what is known, and of its average.
        open: verdicts that were not given, as calls were not sent or not answered.
        costs: judge -> columns of what it cost, of those that were asked.
    """

    held: Held
    judged: Sequence[tuple[Evidence, AverageAnswer | None]]
    panel: Panel
    stopped: Elimination | None
    open: int
    costs: Mapping[str, Mapping[str, Value]]

    @property
    def ranked(self) -> list[tuple[Evidence, AverageAnswer | None]]:
        """The best first: by word, then by agreement, then by name."""

        def place(judged: tuple[Evidence, AverageAnswer | None]) -> tuple[int, float, str]:
            one, _ = judged
            last = -one.agreement.value if one.agreement.n else 1.0
            return WORDS.index(one.verdict.word), last, one.name

        return sorted(self.judged, key=place)


def page(
    audited: Audited, extra: Sequence[Table], show_all: bool, estimators: Sequence[Estimator]
) -> Result:
    """Everything as one result.

    Args:
        extra: tables of details; of a manipulation that was tried.
        show_all: whether the page shows what is else folded away.
    """
    held, ranked = audited.held, audited.ranked
    single = ranked[0][0] if len(ranked) == 1 else None
    judges, conditions = _judges(audited), _conditions(audited)
    agreement, averages = _agreement(audited), _averages(audited)
    if single is None:
        top, folded = [judges], [conditions, agreement, averages, *extra]
    else:
        top = [_confusion(held, single), _classes(held, single)] if single.classes else [agreement]
        top, folded = [*top, averages], [judges, conditions, *extra]
    top.append(disagreements(held, [one.name for one, _ in ranked]))
    top, folded = ([one for one in tables if one.rows] for tables in (top, folded))
    rest = [one for one in (*top, *folded) if one is not judges]
    title, paragraphs = answer(audited)
    section = PageSection("Details", [one.name for one in folded], folded=not show_all)
    return Result(
        summary=_summary(audited),
        primary="best_agreement",
        headlines=HEADLINES,
        tables=[judges, *rest],  # the console prints the first
        notes=[],
        provenance={"clean": origin_of(audited.panel, held.table.facts)},
        estimators=list(dict.fromkeys(estimators)),
        answer=paragraphs,
        sections=[section] if folded else [],
        title=title,
        cards=cards(single) if single is not None else (),
        chart=_chart(audited) if single is None else None,
    )


def _judges(audited: Audited) -> Table:
    """One row for each judge, the best first."""
    held, rows = audited.held, list[Row]()
    for one, average in audited.ranked:
        verdict = one.verdict
        row: dict[str, Value] = {"judge": one.name, "verdict": verdict.word}
        row |= {"because": say("because", verdict)} | columns("agreement", one.agreement)
        best = one.best_control
        row |= {"best_simple_rule": best, "agreement_of_that_rule": one.controls[best]}
        if held.leaves_out and one.people is not None:
            row["agreement_of_people"] = one.people[1].value
        for level in held.classes if len(held.classes) == 2 else []:
            row |= columns(f"finds_{level}", one.classes[level][0])
        if one.kappa is not None:
            row |= columns("kappa", one.kappa)
        row["average"] = None if average is None else average.word
        if math.isfinite(verdict.more):
            row["labels_more_to_decide"] = int(verdict.more)
        row |= {"labelled_items": one.labelled, "without_verdict": one.lost}
        rows.append(row | {**audited.costs.get(one.name, {})})
    noun = "pair" if held.table.kind == "preference" else "text"
    categories, several = held.table.kind == "category", len(rows) > 1
    return table(__package__, "judges", rows, noun=noun, categories=categories, several=several)


def _conditions(audited: Audited) -> Table:
    rows: list[Row] = [
        {
            "judge": who.name,
            "condition": say("heading", one),
            "answer": STANDINGS[one.standing],
            **columns("value", one.value),
            "bar": say("wanted", one),
            "items": one.value.n,
        }
        for who, _ in audited.ranked
        for one in who.conditions
    ]
    return table(__package__, "conditions", rows)


def _agreement(audited: Audited) -> Table:
    """Judges, people and rules that know nothing, on the same items against the same people."""
    held, rows = audited.held, list[Row]()

    def add(who: str, one: Estimate) -> None:
        rows.append({"who": who, **columns("agreement", one), "items": one.n})

    for one, _ in audited.ranked:
        add(one.name, one.agreement)
        if one.people is not None:
            own, people = one.people
            if not held.leaves_out:
                add(f"{one.name}, where several people labelled", own)
            add("people with each other", people)
        for rule, sums in held.rules(held.table.names.index(one.name)).items():
            each = sums.estimates().at()
            rows.append({"who": f"rule: {rule}", "agreement": each.value, "items": each.n})
    return table(__package__, "agreement", rows, leaves_out=held.leaves_out)


def _confusion(held: Held, one: Evidence) -> Table:
    assert one.confusion is not None
    levels = held.table.levels
    whole = bool((one.confusion % 1 == 0).all())
    rows: list[Row] = []
    for level, counts in zip(levels, one.confusion, strict=True):
        cells = [int(x) if whole else round(float(x), 1) for x in counts]
        row: dict[str, Value] = {"people": f"people: {level}"}
        row |= {f"judge: {name}": n for name, n in zip(levels, cells, strict=False)}
        if one.confusion[:, -1].any():
            row["judge: no verdict"] = cells[-1]
        rows.append(row | {"sum": sum(cells)})
    return table(__package__, "confusion", rows, whole=whole)


def _classes(held: Held, one: Evidence) -> Table:
    rows: list[Row] = []
    for n, (level, (own, people)) in zip(held.labels_of_class, one.classes.items(), strict=True):
        row: dict[str, Value] = {"class": level, **columns("found_by_the_judge", own)}
        if people is not None:
            row |= columns("found_by_people", people)
        rows.append(row | {"texts": int(n)})
    positive = repr(held.table.positive) if held.table.positive else ""
    return table(__package__, "classes", rows, positive=positive)


def _averages(audited: Audited) -> Table:
    rows: list[Row] = []
    for who, one in audited.ranked:
        if one is None:
            continue
        row: dict[str, Value] = {"judge": who.name, "number": one.name, "report": one.word}
        row |= columns("judge_alone", one.own)
        if not one.why:
            row |= columns("people_alone", one.people) | columns("corrected", one.corrected)
            row |= columns("bias", one.off)
            row |= {"tolerated_bias": one.margin} | columns("labels_saved", one.saving)
        row |= {"labels": one.corrected.n, "verdicts": one.own.n}
        rows.append(row | {"because": one.why or None})
    return table(__package__, "averages", rows)


def _summary(audited: Audited) -> dict[str, Value]:
    """Flat: for sweeps, trackers and programs."""
    told = [one for one, _ in audited.ranked]
    words = Counter(one.verdict.word for one in told)
    verdict = ", ".join(f"{word}: {words[word]}" for word in WORDS if words[word])
    known = [one.agreement for one in told if one.agreement.n]
    best = max(known, key=lambda one: one.value, default=Estimate(math.nan))
    summary: dict[str, Value] = {
        "study": "audit",
        "dataset": str(audited.panel.provenance.get("dataset", "")),
        "judges": len(told),
        "verdict": verdict if len(told) > 1 else told[0].verdict.word,
        **{word.replace(" ", "_"): words[word] for word in WORDS},
        **columns("best_agreement", best),
        "best_agreement_n": best.n,
        "labelled_items": max(one.labelled for one in told),
        "open_verdicts": audited.open,
    }
    if lost := sum(one.lost for one in told):
        summary |= {"unscored_verdicts": lost, "judged_verdicts": sum(one.asked for one in told)}
    return summary


def _chart(audited: Audited) -> Chart:
    """A row for each judge, the best first; one unit of the drawing is one pixel of a phone."""
    held, needed = audited.held, audited.held.bars.minimum
    rows = [
        {
            "name": one.name,
            "mark": MARKS[one.verdict.word],
            "rule": max(one.controls.values()),
            "people": one.people[1].value if held.leaves_out and one.people else None,
            **{part: getattr(one.agreement, part) for part in ("value", "low", "high")},
        }
        for one, _ in audited.ranked
        if one.agreement.n
    ]
    parts = ["Lines are 95 % intervals; grey ticks: the best rule that knows nothing"]
    if any(row["people"] is not None for row in rows):
        parts.append("black ticks: people with each other")
    if needed is not None:
        parts.append("dotted: what you ask for")
    svg = render(__package__, "chart.svg.j2", rows=rows, needed=needed)
    return Chart("Agreement with people", "; ".join(parts) + ".", svg)
