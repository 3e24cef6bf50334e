"""The page of an audit, or of several criteria: title, answer, cards, chart and tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgelab.core.errors import some
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Chart, Headline, PageSection, Result, Row, Table, Value
from judgelab.engine.provenance import origin_of
from judgelab.stats.intervals.arrays import average_ranks
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import GradedRows
from judgelab.study.audit.averages import RARE
from judgelab.study.audit.design import Design
from judgelab.study.audit.drift import drift_rows, noise_rows
from judgelab.study.audit.evidence import WORDS, Evidence, Word
from judgelab.study.audit.words import AuditFacts, answer, cards, say
from judgelab.study.common.tables import named_columns as columns
from judgelab.study.common.templates import render, sentences, table

MARKS: Mapping[Word, str] = {"use": "use", "not known yet": "open", "do not use": "no"}
MOST = 1000  # rows of disagreements that are kept
HEADLINES = (
    Headline("verdict", "Verdict"),
    Headline("best_agreement", "Agreement with people", people=True),
)


def page(audit: AuditFacts, show_all: bool) -> Result:
    """Everything as one result; ``show_all``: whether nothing is folded away."""
    design, ranking, kind = audit.design, audit.ranking, audit.design.table.kind
    single = ranking[0][0] if len(ranking) == 1 else None
    judges, conditions = _judges(audit), _conditions(audit)
    agreement, averages = _agreement(audit), _averages(audit)
    if single is None:
        top, folded = [judges], [conditions, agreement, averages]
    elif single.recall:
        top = [_confusion(design, single), _classes(design, single), averages]
        folded = [judges, conditions]
    else:
        top, folded = [agreement, averages], [judges, conditions]
    folded += [audit.trials] if audit.trials else []
    noises = [row for one in audit.noises for row in noise_rows(kind, one)]
    top += [
        table(__package__, "noise", noises, noun=audit.noun),
        table(__package__, "drift", drift_rows(audit.drifts), noun=audit.noun, before=audit.before),
        _disagreements(design, [one.name for one, _ in ranking]),
    ]
    top, folded = ([one for one in tables if one.rows] for tables in (top, folded))
    rest = [one for one in (*top, *folded) if one is not judges]
    title, paragraphs = answer(audit)
    section = PageSection("Details", [one.name for one in folded], folded=not show_all)
    return Result(
        summary=_summary(audit),
        primary="best_agreement",
        headlines=HEADLINES,
        tables=[judges, *rest],  # the console prints the first
        notes=[],
        provenance={"clean": origin_of(audit.panel, design.table.facts), "judges": audit.origins},
        estimators=list(dict.fromkeys(x.estimator for x in audit.inquiries if x.estimator)),
        answer=paragraphs,
        sections=[section] if folded else [],
        title=title,
        cards=cards(single) if single is not None else (),
        chart=chart({"": audit}) if single is None else None,
    )


def _judges(audit: AuditFacts) -> Table:
    """One row for each judge, the best first."""
    design, rows = audit.design, list[Row]()
    for one, average in audit.ranking:
        verdict = one.verdict
        row: dict[str, Value] = {"judge": one.name, "verdict": verdict.word}
        row |= {"because": say("because", verdict)} | columns("agreement", one.agreement)
        best = one.best_control
        row |= {"best_simple_rule": best, "agreement_of_that_rule": one.controls[best]}
        if design.leaves_out and one.people:
            row["agreement_of_people"] = one.people[1].value
        for level in design.classes if len(design.classes) == 2 else []:
            row |= columns(f"finds_{level}", one.recall[level])
        if one.kappa is not None:
            row |= columns("kappa", one.kappa)
        row["average"] = None if average is None else average.word
        if math.isfinite(verdict.more):
            row["labels_more_to_decide"] = int(verdict.more)
        row |= {"labelled_items": one.labelled, "without_verdict": one.without_verdict}
        rows.append(row | {**audit.costs.get(one.name, {})})
    facts = {"categories": design.table.kind == "category", "several": len(rows) > 1}
    return table(__package__, "judges", rows, noun=audit.noun, **facts)


def _conditions(audit: AuditFacts) -> Table:
    rows: list[Row] = [
        {"judge": who.name, "condition": say("heading", one), "answer": say("answer", one)}
        | columns("value", one.value)
        | {"bar": say("wanted", one), "n": one.value.n, "of": say("units", one, audit.design)}
        for who, _ in audit.ranking
        for one in who.conditions
    ]
    return table(__package__, "conditions", rows)


def _agreement(audit: AuditFacts) -> Table:
    """Judges, people and rules that know nothing, on the same items against the same people."""
    design, rows, n = audit.design, list[Row](), audit.design.unit_of_n
    for one, _ in audit.ranking:
        shares = {one.name: one.agreement}
        if one.people and not design.leaves_out:
            shares[f"{one.name}, where several people labelled"] = one.people[0]
        if one.people:
            shares["people with each other"] = one.people[1]
        rows += [{"who": who, **columns("agreement", x), n: x.n} for who, x in shares.items()]
        rows += [
            {"who": f"rule: {rule}", "agreement": share, n: one.agreement.n}
            for rule, share in one.controls.items()
        ]
    strangers = isinstance(design.beside, GradedRows) and design.beside.strangers
    return table(__package__, "agreement", rows, design=design, strangers=strangers)


def _confusion(design: Design, one: Evidence) -> Table:
    assert one.confusion is not None
    levels, whole = design.table.levels, bool((one.confusion % 1 == 0).all())
    names = [f"judge: {name}" for name in levels]
    names += ["judge: no verdict"] if one.confusion[:, -1].any() else []
    rows = list[Row]()
    for level, counts in zip(levels, one.confusion, strict=True):
        cells = [int(x) if whole else round(float(x), 1) for x in counts]
        row = {"people": f"people: {level}", **dict(zip(names, cells, strict=False))}
        rows.append(row | {"sum": sum(cells)})
    return table(__package__, "confusion", rows, whole=whole, weighted=design.weight is not None)


def _classes(design: Design, one: Evidence) -> Table:
    rows = list[Row]()
    for level, own in one.recall.items():
        row: dict[str, Value] = {"class": level, **columns("found_by_the_judge", own)}
        if level in one.recall_beside:
            row |= columns("found_by_people", one.recall_beside[level][1])
        rows.append(row | {"texts": design.labels_of_class[level]})
    positive = repr(design.table.positive) if design.table.positive else ""
    return table(__package__, "classes", rows, positive=positive)


def _averages(audit: AuditFacts) -> Table:
    rows: list[Row] = []
    for who, one in audit.ranking:
        if one is None:
            continue
        row: dict[str, Value] = {"judge": who.name, "number": one.name, "report": one.word}
        row |= columns("judge_alone", one.own)
        if not one.why:
            source = "labels alone" if one.rare or one.all_labelled else "labels and verdicts"
            row |= columns("people_alone", one.people) | columns("best_estimate", one.best)
            row |= {"best_estimate_from": source} | columns("bias", one.bias)
            row |= {"tolerated_bias": one.margin} | columns("labels_saved", one.saving)
        row |= {"labels": one.best.n, "verdicts": one.own.n}
        because = one.why
        if one.word == "not known" and not because:
            because = "not known whether its verdicts save labels"
        elif one.word == "people alone" and one.rare:
            because = f"one of the two answers has fewer than {RARE} labels"
        rows.append(row | {"because": because or None})
    return table(__package__, "averages", rows)


def _summary(audit: AuditFacts) -> dict[str, Value]:
    """Flat: for sweeps, trackers and programs."""
    judges = [one for one, _ in audit.ranking]
    words = Counter(one.verdict.word for one in judges)
    verdict = ", ".join(f"{word}: {words[word]}" for word in WORDS if words[word])
    agreements = [one.agreement for one in judges if one.agreement.n]
    best = max(agreements, key=lambda one: one.value, default=Estimate(math.nan))
    summary: dict[str, Value] = {
        "study": "audit",
        "dataset": str(audit.panel.provenance.get("dataset", "")),
        "judges": len(judges),
        "verdict": verdict if len(judges) > 1 else judges[0].verdict.word,
        **{word.replace(" ", "_"): words[word] for word in WORDS},
        **columns("best_agreement", best),
        "best_agreement_n": best.n,
        "labelled_items": max(one.labelled for one in judges),
        "open_verdicts": audit.open,
    }
    if without_verdict := sum(one.without_verdict for one in judges):
        questions = sum(one.questions for one in judges)
        summary |= {"unscored_verdicts": without_verdict, "judged_verdicts": questions}
    return summary


def chart(audits: Mapping[str, AuditFacts]) -> Chart:
    """A row for each judge of audits by criterion (or of ""), the best first.

    One unit of the drawing is one pixel of a phone.
    """
    minimum = next(iter(audits.values())).design.bars.minimum
    rows = [
        (
            ": ".join(filter(None, (criterion, one.name))),
            one,
            one.people[1].value if audit.design.leaves_out and one.people else None,
        )
        for criterion, audit in audits.items()
        for one, _ in audit.ranking
        if one.agreement.n
    ]
    facts = {"rows": rows, "minimum": minimum}
    svg = render(__package__, "chart.svg.j2", marks=MARKS, **facts)
    title, caption = sentences(__package__, "tables.md.j2", table="chart", **facts)
    return Chart(title, caption, svg)


def _disagreements(design: Design, judges: list[str]) -> Table:
    """Texts or pairs on which judge and people differ, the worst first.

    Of classes those that the judge calls positive and people do not come first; of grades the
    largest difference, on people's scale, or in ranks where the judge has another.
    """
    data, units = design.table, design.table.units
    truth, values = data.truth, data.values[[data.names.index(name) for name in judges]]
    same = data.on_scale[[data.names.index(name) for name in judges]]
    off = np.stack([_off(data, truth, *each) for each in zip(values, same, strict=True)])
    differ = np.nansum(off > 0, axis=0)
    size = np.nan_to_num(off).max(axis=0, initial=0.0)
    passed = np.zeros(len(units))
    if data.kind == "category" and data.positive in data.levels:
        good = data.levels.index(data.positive)
        passed = ((values == good) & (truth != good) & ~np.isnan(truth)).sum(axis=0)
    names = zip(units.item, units.first, units.second, strict=True)
    ranks = zip(-passed, -differ, -size, map("\0".join, names), range(len(units)), strict=True)
    order = [rank[-1] for rank in sorted(ranks) if rank[1] < 0]
    rows: list[Row] = []
    for k in order[:MOST]:
        row: dict[str, Value] = {"item": str(units.item[k])}
        if len(set(units.first)) > 1 or data.kind == "preference":
            row["text"] = str(units.first[k])
        if data.kind == "preference":
            row["other_text"] = str(units.second[k])
        row["people_say"] = _in_words(data, float(truth[k]), k)
        if len(judges) == 1:
            row["judge_says"] = _in_words(data, float(values[0, k]), k)
        else:
            row |= {"judges_that_differ": int(differ[k]), "of_judges": len(judges)}
        rows.append(row)
    facts = {"passed": bool(passed.any()), "most": MOST, "all": len(order)}
    return table(__package__, "disagreements", rows, several=len(judges) > 1, **facts)


def _off(table: JudgmentTable, truth: Floats, value: Floats, on_scale: bool) -> Floats:
    """[units] how far the judge is from people, 0 where it says the same; NaN not known."""
    in_both = ~np.isnan(truth) & ~np.isnan(value)
    if table.kind == "category":
        return np.where(in_both, truth != value, np.nan)
    if table.kind == "preference":
        side = np.abs(truth - value)
        return np.where(truth == 0.5, 0.0, np.where(side > 0.25, side, 0.0))
    people = table.labels[~np.isnan(table.labels)]
    scales, least = (truth, value), max(0.25 * np.ptp(people), 1e-9)
    if not on_scale:
        ranks = (average_ranks(np.where(in_both, x, np.nan)) for x in (truth, value))
        scales, least = tuple(x / max(in_both.sum(), 1) for x in ranks), 0.25
    gap = np.abs(scales[0] - scales[1])
    return np.where(gap >= least, gap, 0.0)


def _in_words(table: JudgmentTable, value: float, k: int) -> Value:
    if np.isnan(value):
        return None
    if table.kind == "category":
        return table.levels[int(value)]
    if table.kind == "grade":
        return round(value, 3)
    if value == 0.5:
        return "tie"
    name = str((table.units.first if value > 0.5 else table.units.second)[k])
    share = max(value, 1 - value)
    return name if share == 1 else f"{name} ({share:.0%})"


def stack(pages: Mapping[str, Result], chart: Chart, unaudited: Sequence[str]) -> Result:
    """One result: the answers in order, tables with a column of the criterion, the worst in front.

    The summary is that of the worst criterion: the one whose best judge has the worst verdict, of
    equals the one with least agreement. ``unaudited``: criteria without labels or verdicts.
    """

    def standing(name: str) -> tuple[int, float, str]:
        summary = pages[name].summary
        reached = [k for k, word in enumerate(WORDS) if summary[word.replace(" ", "_")]]
        agreement = summary["best_agreement"]
        return -min(reached), agreement if isinstance(agreement, float) else 0.0, name

    worst, first = min(pages, key=standing), next(iter(pages.values()))
    heading, apart = sentences(__package__, "tables.md.j2", table="criteria", unaudited=unaudited)
    answer = [(heading, apart)]
    for name, one in pages.items():
        answer += [(name, one.title)]
        answer += [(f"{name}, {head[:1].lower()}{head[1:]}", text) for head, text in one.answer]
    summary: dict[str, Value] = {**pages[worst].summary, "worst_criterion": worst}
    parts = [part for one in pages.values() for part in one.sections]
    details = dict.fromkeys(table for part in parts for table in part.tables)
    names = dict.fromkeys(table.name for one in pages.values() for table in one.tables)
    tables = [_table(name, pages) for name in ("judges", *(x for x in names if x != "judges"))]
    section = PageSection("Details", list(details), folded=all(part.folded for part in parts))
    lead = f"Of {len(pages)} criteria '{worst}' is the worst: " if len(pages) > 1 else f"{worst}: "
    return replace(
        first,
        summary=summary | {"criteria": len(pages)},
        tables=tables,
        answer=answer,
        title=lead + pages[worst].title,
        cards=(),
        chart=chart,
        sections=[section] if parts else [],
    )


def _table(name: str, pages: Mapping[str, Result]) -> Table:
    """The tables of a name as one, each row with its criterion; notes that differ name theirs."""
    own = {on: table for on, page in pages.items() for table in page.tables if table.name == name}
    first = next(iter(own.values()))
    rows = [{"criterion": key, **row} for key, table in own.items() for row in table.rows]
    notes = dict[str, list[str]]()
    for criterion, each in own.items():
        notes.setdefault(each.note, []).append(criterion)
    several = (f"{some(names)}: {text}" for text, names in notes.items() if text)
    return replace(first, rows=rows, note=" ".join(several) if len(notes) > 1 else first.note)
