"""The page of items: every text with its source, its scores, what people said, what judges replied.

It is made from the records alone and opens without a network; texts in it are data, never markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from judgelab.core.panel import GOOD_FAITH
from judgelab.report import format
from judgelab.report.item_order import ItemOrder, Unit
from judgelab.report.judged_texts import Floats, JudgedTexts, judged_texts, table
from judgelab.report.tables import Column
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "items.html"
MOST = 5_000
"""Rows of the page."""
LONGEST = 20_000
"""Characters of one text."""
ROOM = 30_000_000
"""Characters of all texts together; rows beyond are left out."""

SORTS = {
    "difference": "Difference between judge and people",
    "spread": "Difference between judges",
    "misplaced": "On the wrong side of good-faith and problematic texts",
    "score": "Score",
    "change": "Change under the attack",
    "people": "People's grade",
}
MEANING = {
    "difference": "Where judge and people differ most stands first.",
    "spread": "Where judges differ most stands first.",
    "misplaced": "Texts that the score puts on the wrong side stand first: problematic ones above "
    "good-faith ones of the same item, and the other way round.",
    "score": "The highest score stands first.",
    "change": "What the attack changes most stands first.",
    "people": "The highest grade stands first.",
    "": "Rows stand in the order of the data.",
}
UNITS: Mapping[Unit, str] = {
    "opposite": "Difference: 0 the judge says what people say, 1 the opposite.",
    "points": "Difference: in points of people's scale.",
    "places": "Judge and people use different scales, so the difference is one of places among the "
    "texts of the item: 0 the same place, 1 the first and the last.",
    "places of all": "Judge and people use different scales, so the difference is one of places "
    "among all texts: 0 the same place, 1 the first and the last.",
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
    rows = judged_texts(run_dir, mechanism)
    if rows is None or not len(rows):
        (run_dir.path / FILE).unlink(missing_ok=True)
        return frozenset()
    made = ItemsData(rows, _Records.of(run_dir))
    data = made.data
    text = render("items.html", heading=heading, data=data, said=made.sentences)
    run_dir.write_text(FILE, text)
    return frozenset(name for name, *_ in data["items"])


def linked(columns: Sequence[Column], items: Collection[str]) -> list[Column]:
    """Columns of a table, items linked to where they stand on the page of items."""
    return [
        replace(one, links=tuple(_link(name) if name in items else "" for name in one.sort))
        if one.key == "item"
        else one
        for one in columns
    ]


def _link(item: str) -> str:
    return f"{FILE}#item={quote(item, safe='')}"


@dataclass(frozen=True)
class _Records:
    """Texts by what they are of.

    Attributes:
        sources: item -> source and reference.
        texts, attacked: (item, agent) -> text.
        replies: panel -> what judges replied.
    """

    sources: Mapping[str, tuple[str, str | None]]
    texts: Mapping[tuple[str, str], str]
    attacked: Mapping[tuple[str, str], str]
    replies: Mapping[str, DataFrame]

    @staticmethod
    def of(run_dir: RunDir) -> _Records:
        """As they lie on disk."""
        found, rows = table(run_dir, "source_texts"), []
        if found is not None:
            rows = found.astype(object).where(found.notna(), None).to_numpy().tolist()
        replies = {name: table(run_dir, f"{name}_reply_texts") for name in ("clean", "attacked")}
        return _Records(
            {str(item): (source or "", reference) for item, source, reference in rows},
            _by_text(table(run_dir, "clean_texts")),
            _by_text(table(run_dir, "attacked_texts")),
            {name: data for name, data in replies.items() if data is not None},
        )


def _by_text(data: DataFrame | None) -> dict[tuple[str, str], str]:
    if data is None:
        return {}
    data = data[data["text"].notna()]
    names = zip(data["item"].astype(str), data["agent"].astype(str), strict=True)
    return dict(zip(names, data["text"].astype(str), strict=True))


class ItemsData:
    """What the page embeds: the rows that it has room for, the most telling first."""

    def __init__(self, rows: JudgedTexts, records: _Records) -> None:
        self._all, self._records = rows, records
        self.order = ItemOrder(rows)
        self._sorts = self.order.sorts
        keys = next(iter(self._sorts.values()), np.zeros(len(rows)))
        ranked = np.argsort(np.where(np.isnan(keys), np.inf, -keys), kind="stable")
        self._shown = ranked[: self._room(ranked[:MOST])]

    def _room(self, ranked: np.ndarray[Any, np.dtype[np.intp]]) -> int:
        """How many rows fit; at least one."""
        taken, items = 0, set[str]()
        for count, k in enumerate(ranked):
            own = self._texts(int(k))
            taken += sum(min(len(text or ""), LONGEST) for text in own)
            item = str(self._all.item[k])
            if item not in items:
                items.add(item)
                taken += min(len(self._records.sources.get(item, ("", None))[0]), LONGEST)
            if taken > ROOM and count:
                return count
        return len(ranked)

    def _texts(self, k: int) -> tuple[str | None, str | None, str | None]:
        """The text of a row, the other one of a pair, and the attacked one where it differs."""
        item, first, second = (str(part[k]) for part in self._names)
        own = self._records.texts.get((item, first))
        changed = self._records.attacked.get((item, first))
        return own, self._records.texts.get((item, second)), None if changed == own else changed

    @property
    def _names(self) -> tuple[Any, Any, Any]:
        return self._all.item, self._all.first, self._all.second

    @property
    def sentences(self) -> list[str]:
        """How many rows there are, which are left out, how they are sorted."""
        first = next(iter(self._sorts), "")
        told = "difference" in self._sorts
        said = [f"{MEANING[first]} {UNITS[self.order.unit] if told else ''}".strip()]
        left = len(self._all) - len(self._shown)
        if left:
            said.append(
                f"{left:,} of {len(self._all):,} rows, those last in this order, are left out of "
                "this page. All are in records/ (parquet): clean_texts has the texts, clean_scores "
                "or judgments what was said of them."
            )
        return said

    @property
    def data(self) -> dict[str, Any]:
        """Plain values for the script."""
        rows = self._all.at(self._shown)
        items = {str(name): k for k, name in enumerate(dict.fromkeys(rows.item))}
        none = ("", None)
        sources = [(name, *self._records.sources.get(name, none)) for name in items]
        return {
            "kind": rows.kind,
            "good": sorted(GOOD_FAITH),
            "judges": list(rows.judges),
            "raters": list(rows.raters),
            "levels": list(rows.levels),
            "sorts": [[name, SORTS[name]] for name in self._sorts],
            "items": [[name, _cut(source), _cut(gold)] for name, source, gold in sources],
            "replies": self._replies[0],
            "rows": list(self._rows(rows, items)),
        }

    def _rows(self, rows: JudgedTexts, items: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        places = self.order.places if self.order.unit.startswith("places") else ()
        replies, said = self._replies[1], rows.said
        lists = {
            "values": _plain(rows.values),
            "said": _plain(said),
            "labels": _plain(rows.labels),
            "difference": _plain(self.order.difference[self._shown]),
        }
        if places and "difference" in self._sorts:
            stacked = np.stack(places, axis=2)[self._shown]
            lists["places"] = _plain(stacked)
        keys = {name: _plain(values[self._shown]) for name, values in self._sorts.items()}
        people, attacked = _plain(rows.people), _plain(rows.attacked)
        for k, at in enumerate(self._shown.tolist()):
            item, first, second = str(rows.item[k]), str(rows.first[k]), str(rows.second[k])
            texts = [_cut(text) for text in self._texts(at)]
            about = [(item, *sorted((first, second)))] if second else []
            about += [(item, "", first), *([(item, "", second)] if second else [])]
            yield {
                "at": at,
                "item": items[item],
                "agents": [first, second] if second else [first],
                "group": str(rows.group[k]),
                "texts": texts[:2] if second else texts[:1],
                "attacked": texts[2],
                "change": attacked[k],
                "asked": rows.asked[k].any(axis=1).tolist(),
                "lost": bool(rows.unscored[k]),
                "people": people[k],
                "keys": {name: values[k] for name, values in keys.items()},
                "replies": [r for one in about for r in replies.get(one, ())],
                **{name: values[k] for name, values in lists.items()},
            }

    @cached_property
    def _replies(self) -> tuple[list[list[Any]], dict[tuple[str, ...], list[int]]]:
        """Replies of the rows shown, and which of them are about a pair or a text.

        Of single texts, replies about pairs that they are in count too.
        """
        pairs = bool((self._all.second != "").any())
        items = {str(self._all.item[k]) for k in self._shown}
        kept: list[list[Any]] = []
        about: dict[tuple[str, ...], list[int]] = {}
        taken = 0
        for panel, data in self._records.replies.items():
            data = data[data["item"].isin(items)]
            for row in data.astype(object).where(data.notna(), None).to_dict("records"):
                one, two = str(row["agent"]), str(row["peer"] or "")
                keys = [("", one)] if not two else [("", one), ("", two)]
                if pairs and two:
                    keys = [(one, two) if one <= two else (two, one)]
                taken += len(row["reply"] or "")
                reply = row["reply"] if taken <= ROOM else None
                reason = row["reason"] if taken <= ROOM else "in records/, left out of this page"
                for key in keys:
                    about.setdefault((str(row["item"]), *key), []).append(len(kept))
                shown = [one, two] if two else [one]
                beside = [row["detail"] or "", row["probabilities"] or "", reason or ""]
                kept.append([panel, row["judge"], shown, _cut(reply), *beside])
        return kept, about


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
