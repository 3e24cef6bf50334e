"""The audits of several criteria on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgelab.core.errors import some
from judgelab.core.result import Chart, PageSection, Result, Table, Value
from judgelab.study.audit.conditions import WORDS

APART = (
    "Each criterion is audited by itself: labels of one are never used for another, and intervals "
    "of advantages over rules are adjusted for the judges of a criterion, not over all criteria."
)


def stacked(pages: Mapping[str, Result], chart: Chart, left: Sequence[str]) -> Result:
    """One result: the answers in order, tables with a column of the criterion, the worst in front.

    The summary is that of the worst criterion: the one whose best judge has the worst verdict, of
    equals the one with least agreement.

    Args:
        left: criteria without labels or verdicts.
    """

    def standing(name: str) -> tuple[int, float, str]:
        summary = pages[name].summary
        reached = [k for k, word in enumerate(WORDS) if summary[word.replace(" ", "_")]]
        agreement = summary["best_agreement"]
        return -min(reached), agreement if isinstance(agreement, float) else 0.0, name

    worst, first = min(pages, key=standing), next(iter(pages.values()))
    without = f" Without labels or verdicts, so not audited: {some(left)}." if left else ""
    answer = [("Criteria", APART + without)]
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
    own = {
        criterion: table for criterion, page in pages.items() for table in page.tables
        if table.name == name
    }  # fmt: skip
    first = next(iter(own.values()))
    rows = [{"criterion": key, **row} for key, table in own.items() for row in table.rows]
    notes = dict[str, list[str]]()
    for criterion, table in own.items():
        notes.setdefault(table.note, []).append(criterion)
    note = first.note
    if len(notes) > 1:
        note = " ".join(f"{some(names)}: {text}" for text, names in notes.items() if text)
    return replace(first, rows=rows, note=note)
