"""The page of items: every text with its source, its scores, what people said, what judges replied.
It is made from the records alone, and texts in it are data, never markup."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Kind, Mask, Units
from judgelab.report import format
from judgelab.report.format import Column, records
from judgelab.stats.intervals.arrays import row_means
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

Names = NDArray[np.object_]
Unit = Literal["opposite", "points", "places"]
UNIT = ["item", "first", "second"]
FILE = "items.html"
MOST = 5_000  # rows of the page
REPLIES = 20_000  # of the page
LONGEST = 20_000  # characters of one text


@dataclass(frozen=True)
class ItemRows:
    """Texts or pairs of texts, a row each: what was said of them, and of whom they are."""

    table: JudgmentTable
    group: Names  # [rows] the agent's category, or "reference"; "" without one
    attacked: Floats  # [rows] score of the attacked text; NaN without one

    def __len__(self) -> int:
        return len(self.table.units)

    @property
    def unscored(self) -> Mask:
        """[rows] whether a judge was asked and gave nothing."""
        absent = self.table.asked & np.isnan(self.table.verdicts)
        return np.asarray(absent.any(axis=(0, 2)))

    @property
    def unit(self) -> Unit:
        """What differences are counted in: of grades in points, where every judge gives them on
        people's scale, and else in places among the texts of the item."""
        if self.table.kind != "grade":
            return "opposite"
        # nats can lie within the range of grades, and records do not tell which scores are nats
        whole = (np.isin(x[~np.isnan(x)], self.table.labels) for x in self.table.verdicts)
        same = self.table.on_scale.all() and all(2 * x.sum() >= x.size for x in whole)
        return "points" if same else "places"

    @cached_property
    def difference(self) -> Floats:
        """[rows, judges] between judge and people, in ``unit``; NaN where either is unknown."""
        scores, people, labels = self.table.values.T, self.table.truth[:, None], self.table.labels
        if self.table.kind == "category":  # the share of raters who say something else
            labelled = ~np.isnan(labels)[:, None, :]
            differ = np.where(labelled, labels[:, None, :] != scores[:, :, None], np.nan)
            return np.where(np.isnan(scores), np.nan, row_means(differ))
        if self.unit != "places":
            return np.abs(scores - people)
        both, items = ~np.isnan(scores) & ~np.isnan(people), self.table.units.item
        places = (_places(np.where(both, one, np.nan), items) for one in (scores, people))
        return np.abs(np.subtract(*places))

    @cached_property
    def sorts(self) -> dict[str, Floats]:
        """Name -> [rows] of what rows can be sorted by, largest first; the default stands first."""
        mean = row_means(self.table.values.T)
        keys = {"difference": row_means(self.difference)}
        keys |= {"score": mean} if self.table.kind != "category" else {}
        keys["change"] = np.abs(self.attacked - mean)
        return {name: values for name, values in keys.items() if (~np.isnan(values)).any()}


def item_rows(run_dir: RunDir, mechanism: str) -> ItemRows | None:
    """The rows of a run; None where its records hold no texts, or labels of several criteria.
    Scores that no judge gave are called after the ``mechanism``."""
    import pandas as pd

    texts = record(run_dir, "clean_texts")
    if texts is None or not texts["text"].notna().any():
        return None
    long = record(run_dir, "judgments")
    if long is not None:
        if "criterion" in long:
            return None  # a text has labels of several questions: dataset.criterion chooses one
        if "run" in long:  # the verdict that counts is the first one
            long = long[long["run"] == 0]
        return _rows_of(long[UNIT].drop_duplicates(), long)
    units = texts.dropna(subset="text")[["item", "agent"]]
    parts = [pd.DataFrame(columns=["item", "agent", "role", "by", "value"])]
    if (scores := record(run_dir, "clean_scores")) is not None:
        verdicts = scores.rename(columns={"score": "value"}).drop(columns="category")
        parts.append(verdicts.assign(role="judge", by=mechanism))
        group = scores["category"].astype(object).mask(scores["reference"].eq(True), "reference")
        units = units.merge(scores.assign(group=group)[["item", "agent", "group"]], how="left")
    if (labels := record(run_dir, "clean_labels")) is not None:
        parts.append(labels.assign(role="rater", by=labels["rater"]))
    if (attacked := record(run_dir, "attacked_scores")) is not None:
        changed = attacked.rename(columns={"score": "attacked"})[["item", "agent", "attacked"]]
        units = units.merge(changed, how="left")
    units, long = (
        table.rename(columns={"agent": "first"}).assign(second="", order=0)
        for table in (units, pd.concat(parts))
    )
    return _rows_of(units, long)


def record(run_dir: RunDir, name: str) -> DataFrame | None:
    """A record of a run; None where there is none."""
    import pandas as pd

    file = run_dir.path / "records" / f"{name}.parquet"
    return pd.read_parquet(file) if file.is_file() else None


def _rows_of(units: DataFrame, long: DataFrame) -> ItemRows:
    """Rows ``units`` with what was said of them: a row each of item, first, second, role, by,
    order (of judges), value, and category where values are categories."""
    import pandas as pd

    n, units = len(units), units.reindex(columns=[*UNIT, "group", "attacked"])
    long = long.merge(units[UNIT].assign(row=np.arange(n)), on=UNIT)
    from_raters, from_judges = (long[long["role"] == role] for role in ("rater", "judge"))
    by, raters = pd.factorize(from_raters["by"].astype(str))
    labels = np.full((n, len(raters)), np.nan)
    labels[from_raters["row"], by] = from_raters["value"]
    by, judges = pd.factorize(from_judges["by"].astype(str))
    order = from_judges["order"].astype(int)
    verdicts = np.full((len(judges), n, int(order.max()) + 1 if len(order) else 1), np.nan)
    asked = np.zeros(verdicts.shape, np.bool_)
    verdicts[by, from_judges["row"], order] = from_judges["value"]
    asked[by, from_judges["row"], order] = True
    kind: Kind = "preference" if (units["second"] != "").any() else "grade"
    levels: list[str] = []
    if "category" in long:
        kind, categories = "category", long.dropna(subset="category")
        names = dict(zip(categories["value"].astype(int), categories["category"], strict=True))
        levels = [names.get(k, str(k)) for k in range(max(names, default=-1) + 1)]
    own = Units.of(*(units[name].tolist() for name in UNIT))
    facts = tuple(map(JudgeFacts, judges))
    table = JudgmentTable(
        kind, own, tuple(raters), labels, facts, verdicts, asked, levels=tuple(levels)
    )
    group = units["group"].astype(object).fillna("").to_numpy(object)
    return ItemRows(table, group, units["attacked"].to_numpy(np.float64))


def _places(values: Floats, items: Names) -> Floats:
    """[rows, judges] place among the texts of the item, or among all where no item has several,
    from 0 (lowest) to 1; NaN of a single one."""
    import pandas as pd

    if not values.size:
        return values
    data = pd.DataFrame(values)
    several = data.groupby(items).count().to_numpy().max() > 1
    groups = data.groupby(items if several else np.zeros(len(data)))
    size = groups.transform("count")
    return ((groups.rank() - 1) / (size - 1).where(size > 1)).to_numpy(float)


def write(run_dir: RunDir, heading: str, mechanism: str) -> frozenset[str]:
    """Write items.html where the records hold texts, else remove it; returns the items on it."""
    rows = item_rows(run_dir, mechanism)
    if rows is None or not len(rows):
        (run_dir.path / FILE).unlink(missing_ok=True)
        return frozenset()
    data = _data(run_dir, rows)
    about = {"unit": rows.unit, "left": len(rows) - len(data["rows"]), "all": len(rows)}
    run_dir.write_text(FILE, format.render("items.html", heading=heading, data=data, **about))
    return frozenset(name for name, *_ in data["items"])


def with_links(columns: Sequence[Column], items: Collection[str]) -> list[Column]:
    """Columns of a table, items linked to where they stand on the page of items."""

    def link(item: str) -> str:
        return f"{FILE}#item={quote(item, safe='')}" if item in items else ""

    return [
        replace(one, links=tuple(map(link, one.sort))) if one.key == "item" else one
        for one in columns
    ]


def _data(run_dir: RunDir, rows: ItemRows) -> dict[str, Any]:
    """Plain values for the script: the rows that the page has room for, the most telling first."""
    table, sorts = rows.table, rows.sorts
    keys = next(iter(sorts.values()), np.zeros(len(rows)))
    places = np.argsort(np.where(np.isnan(keys), np.inf, -keys), kind="stable")[:MOST]
    items = {name: k for k, name in enumerate(dict.fromkeys(table.units.item[places].tolist()))}
    sources = {row["item"]: row for row in _records(run_dir, "source_texts")}
    replies = [
        {"panel": panel, **row}
        for panel in ("clean", "attacked")
        for row in _records(run_dir, f"{panel}_reply_texts")
        if row["item"] in items
    ][:REPLIES]
    words, numbers = _words_of(run_dir, rows, places, items, replies), _numbers_of(rows, places)
    return {
        "kind": table.kind,
        "judges": list(table.names),
        "raters": list(table.raters),
        "levels": list(table.levels),
        "sorts": list(sorts),
        "items": [
            [name, *(_cut(sources.get(name, {}).get(of)) for of in ("source", "reference"))]
            for name in items
        ],
        "replies": [_reply(row) for row in replies],
        "rows": [row | values for row, values in zip(words, numbers, strict=True)],
    }


def _words_of(
    run_dir: RunDir,
    rows: ItemRows,
    places: NDArray[np.intp],
    items: Mapping[str, int],
    replies: Sequence[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Of each row: its item, agents and texts, and the places of the replies about them."""
    texts, attacked = (
        {(row["item"], row["agent"]): row["text"] for row in _records(run_dir, name)}
        for name in ("clean_texts", "attacked_texts")
    )
    about: dict[tuple[str, str], list[int]] = {}  # item and agent -> places of replies
    for k, reply in enumerate(replies):
        for agent in filter(None, (reply["agent"], reply["peer"])):
            about.setdefault((reply["item"], agent), []).append(k)
    units = rows.table.units
    for at in places.tolist():
        item, agents = units.item[at], [a for a in (units.first[at], units.second[at]) if a]
        clean, changed = texts.get((item, agents[0])), attacked.get((item, agents[0]))
        own = {k for agent in agents for k in about.get((item, agent), ())}
        if len(agents) > 1:  # of a pair, only what was said of these two
            both = {"", None, *agents}
            own = {k for k in own if {replies[k]["agent"], replies[k]["peer"]} <= both}
        yield {
            "at": at,
            "item": items[item],
            "agents": agents,
            "group": str(rows.group[at]),
            "texts": [_cut(texts.get((item, agent))) for agent in agents],
            "attacked": None if changed == clean else _cut(changed),
            "replies": sorted(own),
        }


def _numbers_of(rows: ItemRows, places: NDArray[np.intp]) -> Iterator[dict[str, Any]]:
    """Of each row: by what the page can be sorted, and what judges and people gave."""
    table = rows.table
    keys = {name: _plain(values[places]) for name, values in rows.sorts.items()}
    columns = {
        "values": _plain(table.verdicts.transpose(1, 0, 2)[places]),
        "said": _plain(table.values.T[places]),
        "labels": _plain(table.labels[places]),
        "difference": _plain(rows.difference[places]),
        "people": _plain(table.truth[places]),
        "change": _plain(rows.attacked[places]),
        "asked": np.asarray(table.asked.any(axis=2)).T[places].tolist(),
        "lost": rows.unscored[places].tolist(),
    }
    for k in range(len(places)):
        row = {name: values[k] for name, values in columns.items()}
        yield {"keys": {name: values[k] for name, values in keys.items()}} | row


def _reply(row: Mapping[str, Any]) -> list[Any]:
    agents = [agent for agent in (row["agent"], row["peer"]) if agent]
    beside = [row[name] or "" for name in ("detail", "probabilities", "reason")]
    return [row["panel"], row["judge"], agents, _cut(row["reply"]), *beside]


def _records(run_dir: RunDir, name: str) -> list[dict[str, Any]]:
    """Rows of a record, None for what is missing; none where there is no such record."""
    data = record(run_dir, name)
    return [] if data is None else records(data.astype(object).where(data.notna(), None))


def _cut(text: str | None) -> str | None:
    """At most ``LONGEST`` characters, and how many more there are."""
    if text is None or len(text) <= LONGEST:
        return text
    more = format.number(len(text) - LONGEST)
    return f"{text[:LONGEST]} … ({more} characters more, in records/)"


def _plain(values: Floats) -> list[Any]:
    """Nested lists of six digits; None for NaN."""
    if values.ndim > 1:
        return [_plain(one) for one in values]
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in values.tolist()]
