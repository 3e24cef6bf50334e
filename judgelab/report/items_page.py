"""The page of items: every text with its source, its scores, what people said, what judges replied.

It is made from the records alone and opens without a network; texts in it are data, never markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from judgelab.report import format
from judgelab.report.item_rows import Floats, ItemRows, Unit, item_rows, record
from judgelab.report.tables import Column, records
from judgelab.store.run_dir import RunDir

FILE = "items.html"
MOST = 5_000  # rows of the page
REPLIES = 20_000  # of the page
LONGEST = 20_000  # characters of one text

SORTS = {
    "difference": ("Difference between judge and people", "Where judge and people differ most"),
    "score": ("Score", "The highest score"),
    "change": ("Change under the attack", "What the attack changes most"),
}
"""Name -> the choice of a reader, and what then stands first."""
UNITS: Mapping[Unit, str] = {
    "opposite": "Difference: 0 the judge says what people say, 1 the opposite.",
    "points": "Difference: in points of people's scale.",
    "places": "Judge and people use different scales, so the difference is one of places among the "
    "texts of the item, or among all where items have one text: 0 the same place, 1 the first and "
    "the last.",
}


def write(
    run_dir: RunDir, heading: str, mechanism: str, render: Callable[..., str]
) -> frozenset[str]:
    """Write items.html where the records hold texts, else remove it; returns the items on it.

    Args:
        heading: what the run is.
        mechanism: what scores are called that no judge gave.
        render: of ``judgelab.report.page``.
    """
    rows = item_rows(run_dir, mechanism)
    if rows is None or not len(rows):
        (run_dir.path / FILE).unlink(missing_ok=True)
        return frozenset()
    data = _data(run_dir, rows)
    said = [_order(rows)]
    if left := len(rows) - len(data["rows"]):
        said.append(
            f"{left:,} of {len(rows):,} rows, those last in this order, are left out of this page. "
            "All are in records/ (parquet): clean_texts has the texts, clean_scores or judgments "
            "what was said of them."
        )
    run_dir.write_text(FILE, render("items.html", heading=heading, data=data, said=said))
    return frozenset(name for name, *_ in data["items"])


def linked(columns: Sequence[Column], items: Collection[str]) -> list[Column]:
    """Columns of a table, items linked to where they stand on the page of items."""

    def link(item: str) -> str:
        return f"{FILE}#item={quote(item, safe='')}" if item in items else ""

    return [
        replace(one, links=tuple(map(link, one.sort))) if one.key == "item" else one
        for one in columns
    ]


def _order(rows: ItemRows) -> str:
    """In which order rows stand, and what differences are."""
    if not rows.sorts:
        return "Rows stand in the order of the data."
    said = f"{SORTS[next(iter(rows.sorts))][1]} stands first."
    return f"{said} {UNITS[rows.unit]}" if "difference" in rows.sorts else said


def _data(run_dir: RunDir, rows: ItemRows) -> dict[str, Any]:
    """Plain values for the script: the rows that the page has room for, the most telling first."""
    keys = next(iter(rows.sorts.values()), np.zeros(len(rows)))
    shown = np.argsort(np.where(np.isnan(keys), np.inf, -keys), kind="stable")[:MOST]
    items = {name: k for k, name in enumerate(dict.fromkeys(rows.item[shown].tolist()))}
    sources = {row["item"]: row for row in _records(run_dir, "source_texts")}
    about = [(name, sources.get(name, {})) for name in items]
    replies = [
        {"panel": panel, **row}
        for panel in ("clean", "attacked")
        for row in _records(run_dir, f"{panel}_reply_texts")
        if row["item"] in items
    ][:REPLIES]
    return {
        "kind": rows.kind,
        "judges": list(rows.judges),
        "raters": list(rows.raters),
        "levels": list(rows.levels),
        "sorts": [[name, SORTS[name][0]] for name in rows.sorts],
        "items": [
            [name, _cut(own.get("source")), _cut(own.get("reference"))] for name, own in about
        ],
        "replies": [_reply(row) for row in replies],
        "rows": list(_rows(run_dir, rows, shown, items, replies)),
    }


def _rows(
    run_dir: RunDir,
    rows: ItemRows,
    shown: NDArray[np.intp],
    items: Mapping[str, int],
    replies: Sequence[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    texts, attacked = (
        {(row["item"], row["agent"]): row["text"] for row in _records(run_dir, name)}
        for name in ("clean_texts", "attacked_texts")
    )
    spoken: dict[tuple[str, str], list[int]] = {}  # item and agent -> places of replies
    for k, reply in enumerate(replies):
        for agent in filter(None, (reply["agent"], reply["peer"])):
            spoken.setdefault((reply["item"], agent), []).append(k)
    lists = {
        "values": _plain(rows.values[shown]),
        "said": _plain(rows.said[shown]),
        "labels": _plain(rows.labels[shown]),
        "difference": _plain(rows.difference[shown]),
        "people": _plain(rows.people[shown]),
        "change": _plain(rows.attacked[shown]),
        "asked": rows.asked[shown].any(axis=2).tolist(),
        "lost": rows.unscored[shown].tolist(),
    }
    sorts = {name: _plain(values[shown]) for name, values in rows.sorts.items()}
    for k, at in enumerate(shown.tolist()):
        item, agents = rows.item[at], [a for a in (rows.first[at], rows.second[at]) if a]
        changed = attacked.get((item, agents[0]))
        own = {r: replies[r] for agent in agents for r in spoken.get((item, agent), ())}
        if len(agents) > 1:  # of a pair, only what was said of these two
            own = {r: one for r, one in own.items() if not one["peer"] or one["peer"] in agents}
            own = {r: one for r, one in own.items() if one["agent"] in agents}
        yield {
            "at": at,
            "item": items[item],
            "agents": agents,
            "group": str(rows.group[at]),
            "texts": [_cut(texts.get((item, agent))) for agent in agents],
            "attacked": None if changed == texts.get((item, agents[0])) else _cut(changed),
            "keys": {name: values[k] for name, values in sorts.items()},
            "replies": sorted(own),
            **{name: values[k] for name, values in lists.items()},
        }


def _reply(row: Mapping[str, Any]) -> list[Any]:
    shown = [agent for agent in (row["agent"], row["peer"]) if agent]
    beside = [row[name] or "" for name in ("detail", "probabilities", "reason")]
    return [row["panel"], row["judge"], shown, _cut(row["reply"]), *beside]


def _records(run_dir: RunDir, name: str) -> list[dict[str, Any]]:
    """Rows of a record, None for what is missing; none where there is no such record."""
    data = record(run_dir, name)
    return [] if data is None else records(data.astype(object).where(data.notna(), None))


def _cut(text: str | None) -> str | None:
    """At most ``LONGEST`` characters, and how many more there are."""
    if text is None or len(text) <= LONGEST:
        return text
    left = format.number(len(text) - LONGEST)
    return f"{text[:LONGEST]} … ({left} characters more, in records/)"


def _plain(values: Floats) -> list[Any]:
    """Nested lists of six digits; None for NaN."""
    if values.ndim > 1:
        return [_plain(one) for one in values]
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in values.tolist()]
