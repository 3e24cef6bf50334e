"""Labels that tell two systems apart, and items on which the judge alone ranks them rightly."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.ranking.confidence import Circumstances, confidence, required_n
from judgelab.stats.ranking.system_bias import JudgeFit, fit_judge, system_moments
from judgelab.stats.trust.exchange import saving
from judgelab.stats.trust.planner import (
    design_effect,
    label_plan,
    room_for_difference,
    weighted_variance,
)
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.quantities import quantities

FEWEST = 6
"""Items labelled for both systems."""
NOTE = (
    "Labelled items that show a difference of {delta} between {first} and {second} with "
    "probability {power:.2g}: people_alone, with_judge (fewest and most: as its interval allows; "
    "verdicts_for_that: items that the judge judges then: the pool, or where that is too small "
    "ten for every label besides it). saves: share of the labels that verdicts make unnecessary, "
    "of the difference of the two on an item."
)
NUMBERED = re.compile(
    r"(output|text|response|answer|candidate|option|completion)?[ _-]?(\d|[ab]|first|second)", re.I
)
ANONYMOUS = (
    "Two systems: the texts of a pair are numbered, not named, so there are no two systems to tell "
    "apart."
)
WINS = " A difference of pairs is how far the share of wins lies from one half."
ALONE = (
    " judge_alone_items: items on which the judge ranks two systems of that difference rightly "
    "with probability {confidence:.2g} without any label; empty: never, as its error differs "
    "between systems (sd bias_sd), which no number of items averages out; at_best: the probability "
    "with items without end."
)


@dataclass(frozen=True)
class Apart:
    """What is to be told apart.

    Attributes:
        difference: of shares; of grades in standard deviations.
        power, confidence: see ``ExchangeRate``.
        systems: the two; None: the two best.
    """

    difference: float
    power: float
    confidence: float
    systems: tuple[str, ...] | None


@dataclass(frozen=True)
class Separated:
    """A table and sentences of the part."""

    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Duel:
    """Two systems on the items that hold both.

    Attributes:
        first, second: names.
        people: [items] the first one's value minus the second's; of shares of wins, its wins less
            one half.
        judges: [judges, items] the same by judges.
        cluster: [items].
        weight: [items] 1 / chance of being labelled.
    """

    first: str
    second: str
    people: Floats
    judges: Floats
    cluster: NDArray[np.intp]
    weight: Floats


def separating(case: AuditCase, apart: Apart) -> Separated:
    """Labels for a difference of two systems; of grades also items for the judge alone."""
    table = case.table
    names = tuple(dict.fromkeys([*table.units.first, *filter(None, table.units.second)]))
    _check(apart.systems, names)
    if len(names) < 2:
        return Separated(notes=["Two systems: the data name only one, so there is no difference."])
    if any(NUMBERED.fullmatch(str(name)) for name in names):
        return Separated(notes=[ANONYMOUS])
    pairs = table.kind == "preference"
    grid = None if pairs else _Grid.of(table)
    duel = _of_pairs(table, apart.systems) if grid is None else _of_texts(grid, apart.systems)
    labelled = 0 if duel is None else int((~np.isnan(duel.people)).sum())
    if duel is None or labelled < FEWEST:
        return Separated(
            notes=[
                f"Two systems: no two have {FEWEST} labelled items in common, so what their "
                "difference would take is not known."
            ]
        )
    known = table.truth[~np.isnan(table.truth)]
    delta = apart.difference * (float(known.std()) if table.kind == "grade" else 1.0)
    biased = table.kind == "grade" and grid is not None
    rows = _rows(case, duel, delta, apart, grid if biased else None)
    note = NOTE.format(
        delta=f"{delta:.3g}", first=duel.first, second=duel.second, power=apart.power
    )
    note += WINS if pairs else ""
    note += ALONE.format(confidence=apart.confidence) if biased else ""
    title = f"Labels that tell {duel.first} and {duel.second} apart"
    return Separated([Table("two_systems", title, rows, note)])


def _check(systems: tuple[str, ...] | None, names: Sequence[str]) -> None:
    if systems is None:
        return
    if len(systems) != 2 or systems[0] == systems[1]:
        raise ConfigError("study.questions.exchange.systems takes two names, or null.")
    for name in systems:
        if name not in names:
            raise ConfigError(f"No system is called {name!r}.{did_you_mean(name, names)}")


def _rows(case: AuditCase, duel: Duel, delta: float, apart: Apart, grid: _Grid | None) -> list[Row]:
    table, level = case.table, 1 - case.rules.alpha
    room = room_for_difference(delta, apart.power, level)
    found = saving(duel.people, duel.judges, duel.cluster, None, level, duel.weight)
    effect = design_effect(duel.people, duel.cluster)
    rows: list[dict[str, Any]] = []
    for k, one in enumerate(table.judges):
        if one.control:
            continue
        there = ~np.isnan(duel.people) & ~np.isnan(duel.judges[k])
        pool = int((~np.isnan(duel.judges[k])).sum())
        people, weight = duel.people[there], duel.weight[there]
        spread = weighted_variance(people, weight) * effect
        alone, likely, best, worst = (
            label_plan(room, spread, rho2, among) if rho2 == rho2 and spread > 0 else None
            for rho2, among in (
                (0.0, math.inf),
                *((float(x[k]), pool) for x in (found.value, found.high, found.low)),
            )
        )
        row: dict[str, Any] = {
            "judge": one.name,
            "difference": float(np.average(people, weights=weight)) if there.any() else math.nan,
            "saves": float(found.value[k]),
            "saves_low": float(found.low[k]),
            "saves_high": float(found.high[k]),
            "people_alone": alone and alone.labels,
            "with_judge": likely and likely.labels,
            "fewest": best and best.labels,
            "most": worst and worst.labels,
            "verdicts_for_that": likely and int(likely.items),
            "n": int(there.sum()),
            "pool": pool,
        }
        rows.append(row | ({} if grid is None else _alone(grid, k, delta, apart)))
    rows.sort(key=lambda row: -float(np.nan_to_num(row["saves"], nan=-1.0)))
    return [*rows]


def _alone(grid: _Grid, k: int, delta: float, apart: Apart) -> dict[str, Any]:
    """Items for the judge alone, by the closed form of the ranking-confidence paper with bias."""
    fit: JudgeFit = fit_judge(system_moments(grid.people, grid.judges[k]))
    row: dict[str, Any] = {"bias_sd": fit.bias_sd, "judge_alone_items": None, "at_best": math.nan}
    if not fit.r > 0 or math.isnan(fit.bias_sd):
        return row
    shared = 0.0 if math.isnan(fit.item_correlation) else fit.item_correlation
    known: Circumstances = {
        "sd": fit.sd,
        "paired": True,
        "item_correlation": shared,
        "system_bias_sd": fit.bias_sd,
    }
    items = required_n(fit.r, delta, apart.confidence, **known)
    best = confidence(fit.r, 1, delta, method="closed_form", **known).ceiling
    row["judge_alone_items"] = int(items) if math.isfinite(items) else None
    return row | {"at_best": float(best)}


@dataclass(frozen=True)
class _Grid:
    """Of texts: [items, systems] of people, [judges, items, systems] of judges."""

    systems: list[str]
    people: Floats
    judges: Floats
    cluster: NDArray[np.intp]
    weight: Floats

    @staticmethod
    def of(table: JudgmentTable) -> _Grid:
        units = table.units
        systems = {name: k for k, name in enumerate(dict.fromkeys(units.first))}
        items = {name: k for k, name in enumerate(dict.fromkeys(units.item))}
        row = np.array([items[name] for name in units.item], np.intp)
        column = np.array([systems[name] for name in units.first], np.intp)
        number = quantities(table)[0]  # of all units: the mean, or the rate of a category
        shape = len(items), len(systems)
        people, judges = np.full(shape, np.nan), np.full((len(table.judges), *shape), np.nan)
        people[row, column], judges[:, row, column] = number.truth, number.values
        cluster = np.zeros(len(items), np.intp)
        cluster[row] = table.clusters
        weight = np.zeros(len(items))
        np.maximum.at(weight, row[table.labelled], table.weight[table.labelled])
        return _Grid([str(name) for name in systems], people, judges, cluster, weight)


def _of_texts(grid: _Grid, systems: tuple[str, ...] | None) -> Duel | None:
    """The two systems asked for, or the best two that share enough labelled items."""
    if systems is None:
        there = ~np.isnan(grid.people)
        shared = there.T.astype(np.int64) @ there
        mean = divide(np.where(there, grid.people, 0.0).sum(axis=0), there.sum(axis=0))
        order = [int(k) for k in np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")]
        both = [(a, b) for i, b in enumerate(order) for a in order[:i] if shared[a, b] >= FEWEST]
        if not both:
            return None
        a, b = both[0]
    else:
        a, b = (grid.systems.index(name) for name in systems)
    return Duel(
        grid.systems[a],
        grid.systems[b],
        grid.people[:, a] - grid.people[:, b],
        grid.judges[:, :, a] - grid.judges[:, :, b],
        grid.cluster,
        grid.weight,
    )


def _of_pairs(table: JudgmentTable, systems: tuple[str, ...] | None) -> Duel | None:
    """The two systems asked for, or the two that met most often under people's eyes."""
    first, second = table.units.first, table.units.second
    if systems is None:
        met = zip(first[table.labelled], second[table.labelled], strict=True)
        counts = Counter(tuple(sorted((str(a), str(b)))) for a, b in met)
        if not counts:
            return None
        systems = max(counts, key=lambda pair: counts[pair])
    a, b = systems
    forth, back = (first == a) & (second == b), (first == b) & (second == a)
    chosen = np.asarray(forth | back, np.bool_)
    sign = np.where(forth, 1.0, -1.0)[chosen]
    people, judges = ((x[..., chosen] - 0.5) * sign for x in (table.truth, table.values))
    return Duel(a, b, people, judges, table.clusters[chosen], table.weight[chosen])
