"""What each judge earns on each item, and what controls that know nothing of quality earn there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.trust.agreement import (
    Places,
    category_credit,
    cross_fitted,
    means_within,
    preference_credit,
    preferred_by_most,
    surely,
)
from judgelab.stats.trust.betting import label_order
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.ties import FOLDS, folds, pair_credits, pairs_within

SAME = ("length", "random")
"""Controls of a table that are here computed without chance, as longer, shorter and random."""


@dataclass(frozen=True)
class Credits:
    """Credits between 0 and 1; NaN where nobody gave a label, or the judge was not asked.

    Of a preference: mean over orders of 1 where it is that of (most) people, 1/2 where one side
    ties. Of a category: 1 where it is people's. Of grades: the share of an item's pairs of texts
    that are ordered as people order them, ties calibrated on other items (``stats.trust.ties``).
    Asked and without a verdict earns 0.

    Attributes:
        judges: names, as in the table; its controls among them.
        items: names in the order of the table.
        unit: [judges, units]; of grades over the pairs that the unit is in.
        item: [judges, items].
        place: [units] number of the unit's item.
        cluster: [items] number of its cluster.
        clusters: names of the clusters.
        turn: [items] when its last label came; NaN: not known.
        weight: [items] 1 / chance of being labelled, so that means are of the whole pool; 1 where
            some chance is not known.
        controls: names; the table's own but for ``SAME``, after those computed here.
        control: [controls, items].
        threshold: [judges] largest gap of two grades that counts as a tie; NaN but for grades.
        across: whether an "item" is two of them, their texts compared with each other: of grades
            where most items have one graded text.
    """

    judges: tuple[str, ...]
    items: tuple[str, ...]
    unit: Floats
    item: Floats
    place: Places
    cluster: Places
    clusters: tuple[str, ...]
    turn: Floats
    weight: Floats
    controls: tuple[str, ...]
    control: Floats
    threshold: Floats
    across: bool = False

    @property
    def labelled(self) -> Mask:
        """[items] whether people said something there that a credit can be earned for."""
        return np.asarray(~np.isnan(self.control[0]), np.bool_)

    @property
    def gains(self) -> Floats:
        """[judges, controls, items] credit minus the control's."""
        return np.asarray(self.item[:, None] - self.control[None], dtype=np.float64)

    @property
    def labelled_clusters(self) -> Places:
        """[labelled] numbers of the clusters with a label, in the order in which labels came.

        Where turns are equal or not known: by a hash of the name, so not by the order of a file.
        """
        count = len(self.clusters)
        known = cluster_sums(~np.isnan(self.control[0]), self.cluster) > 0
        last = np.full(count, -np.inf)
        np.maximum.at(last, self.cluster, np.nan_to_num(self.turn, nan=-np.inf))
        order = label_order(self.clusters, np.where(np.isinf(last), np.nan, last))
        return np.asarray(order[known[order]])

    @property
    def cluster_gains(self) -> Floats:
        """[judges, controls, labelled] means within ``labelled_clusters``.

        One value for each that is independent of the others: what tests that look at labels one by
        one need.
        """
        made = means_within(self.gains, self.cluster, len(self.clusters))
        return np.asarray(made[..., self.labelled_clusters])


def credits_of(table: JudgmentTable) -> Credits:
    """Credits of every judge and control of a table."""
    place, names, across = _items(table)
    cluster = place if across else table.clusters
    units, items, threshold, controls = _KINDS[table.kind](table, place, len(names), cluster)
    own = [k for k, one in enumerate(table.judges) if one.control and one.name not in SAME]
    first = np.unique(place, return_index=True)[1]
    return Credits(
        table.names,
        names,
        units,
        items,
        place,
        cluster[first],
        names if across else tuple(dict.fromkeys(str(name) for name in table.units.cluster)),
        _last_turn(table, place, len(names)),
        _weight(table, place, len(names), across),
        (*controls, *(table.names[k] for k in own)),
        np.concatenate([np.array(list(controls.values())), items[own]]),
        threshold,
        across,
    )


def _items(table: JudgmentTable) -> tuple[Places, tuple[str, ...], bool]:
    """[units] number of the item, their names, and whether two items had to be made one.

    Grades are compared within items. Where most items have one graded text, clusters are taken two
    by two in the order of labels: independent of each other, and none is used twice.
    """
    names: dict[object, int] = {}
    place = np.array([names.setdefault(name, len(names)) for name in table.units.item], np.intp)
    told = tuple(str(name) for name in names)
    texts = np.bincount(place[table.labelled], minlength=1)
    most = 2 * (texts > 1).sum() >= (texts > 0).sum()
    if table.kind != "grade" or most:
        return place, told, False
    cluster = table.clusters
    called, first = np.unique(cluster, return_index=True)
    known = np.bincount(cluster, weights=table.labelled, minlength=len(called)) > 0
    turn = np.where(known, np.nan_to_num(table.units.turn[first], nan=np.inf), np.nan)
    order = label_order([str(name) for name in table.units.cluster[first]], turn)
    rank = np.empty(len(called), np.intp)
    rank[order] = np.arange(len(called)) // 2
    return rank[cluster], tuple(f"pair {k + 1}" for k in range(rank.max() + 1)), True


Found = tuple[Floats, Floats, Floats, dict[str, Floats]]
"""Credits by unit and by item, thresholds, and control -> its credit by item."""


def _preferences(table: JudgmentTable, place: Places, count: int, cluster: Places) -> Found:
    target = preferred_by_most(table.labels)
    units = preference_credit(table.verdicts, table.asked, target)
    said = {"random": np.full(len(target), np.nan), **_said_of_pairs(table, target, folds(cluster))}
    credit = {name: 1 - np.abs(values - target) for name, values in said.items()}
    credit["random"] = np.where(np.isnan(target), np.nan, 0.5)
    by_item = {name: means_within(values, place, count) for name, values in credit.items()}
    none = np.full(len(table.judges), np.nan)
    return units, means_within(units, place, count), none, _kept(by_item, "random")


def _said_of_pairs(table: JudgmentTable, target: Floats, fold: Places) -> dict[str, Floats]:
    """What controls say of pairs of texts, as preferences [units]."""
    longer = (1 + np.sign(table.units.words[:, 0] - table.units.words[:, 1])) / 2
    n = len(target)
    twice = (np.r_[target, 1 - target], [*table.units.first, *table.units.second])
    both, counts = cross_fitted(*twice, np.r_[fold, fold], FOLDS)
    domain, known = cross_fitted(target, list(table.units.stratum), fold, FOLDS)
    return {
        "longer": longer,
        "shorter": 1 - longer,
        "always tie": np.full(n, 0.5),
        "system": surely(both[:n] - both[n:], counts[:n], counts[n:]),
        "stratum": surely(domain - 0.5, known),
    }


def _categories(table: JudgmentTable, place: Places, count: int, cluster: Places) -> Found:
    target, levels, fold = table.truth, len(table.levels), folds(cluster)
    units = category_credit(table.verdicts, table.asked, target)
    known = ~np.isnan(target)

    def frequent(names: list[object]) -> Floats:
        one_hot = [np.where(known, target == k, np.nan) for k in range(levels)]
        shares = np.array([cross_fitted(x, names, fold, FOLDS)[0] for x in one_hot])
        said = np.where(np.isnan(shares).any(axis=0), np.nan, shares.argmax(axis=0))
        return np.where(known, said == target, np.nan)

    credit = {
        "random": np.where(known, 1 / max(levels, 1), np.nan),
        "most frequent": frequent([""] * len(target)),
        "system": frequent(list(table.units.first)),
        "stratum": frequent(list(table.units.stratum)),
    }
    by_item = {name: means_within(values, place, count) for name, values in credit.items()}
    none = np.full(len(table.judges), np.nan)
    return units, means_within(units, place, count), none, _kept(by_item, "random", "most frequent")


def _grades(table: JudgmentTable, place: Places, count: int, cluster: Places) -> Found:
    truth = table.truth
    one, other = pairs = pairs_within(place, ~np.isnan(truth))
    said = said_of_texts(table, truth, folds(cluster))
    scores = np.concatenate([table.verdicts[:, :, 0], np.array(list(said.values()))])
    asked: Mask = np.concatenate([table.asked[:, :, 0], ~np.isnan(np.array(list(said.values())))])
    credit, threshold = pair_credits(scores, asked, truth, pairs, cluster)
    judges = len(table.judges)
    by_item = means_within(credit, place[one], count)
    tied = np.abs(np.round(truth[one] - truth[other], 9)) == 0
    flat = {"random": np.where(tied, 0.0, 0.5), "always tie": tied.astype(np.float64)}
    controls = {name: means_within(values, place[one], count) for name, values in flat.items()}
    controls |= dict(zip(said, by_item[judges:], strict=True))
    twice = np.concatenate([credit[:judges], credit[:judges]], axis=1)
    units = means_within(twice, np.concatenate([one, other]), len(truth))
    return units, by_item[:judges], threshold[:judges], _kept(controls, "random", "always tie")


def said_of_texts(table: JudgmentTable, truth: Floats, fold: Places) -> dict[str, Floats]:
    """What controls say of single texts, as grades [units]."""
    words = table.units.words[:, 0]
    return {
        "longer": words,
        "shorter": -words,
        "system": cross_fitted(truth, list(table.units.first), fold, FOLDS)[0],
        "stratum": cross_fitted(truth, list(table.units.stratum), fold, FOLDS)[0],
    }


_KINDS = {"preference": _preferences, "grade": _grades, "category": _categories}


def _kept(found: Mapping[str, Floats], *always: str) -> dict[str, Floats]:
    """Controls that say something, and nothing that another one says."""
    kept: dict[str, Floats] = {}
    for name, values in found.items():
        said = not np.isnan(values).all()
        new = not any(np.array_equal(values, other, equal_nan=True) for other in kept.values())
        if name in always or (said and new):
            kept[name] = values
    return kept


def _last_turn(table: JudgmentTable, place: Places, count: int) -> Floats:
    last = np.full(count, -np.inf)
    turn = np.where(table.labelled, table.units.turn, np.nan)
    np.maximum.at(last, place, np.nan_to_num(turn, nan=-np.inf))
    return np.where(np.isinf(last), np.nan, last)


def _weight(table: JudgmentTable, place: Places, count: int, across: bool) -> Floats:
    """1 / chance of an item's units to be labelled together; of two items made one, of both."""
    chance = np.where(table.labelled, table.units.chance, np.nan)
    if np.isnan(chance[table.labelled]).any() or (chance[table.labelled] <= 0).any():
        return np.ones(count)
    logs, rarity = np.zeros(count), -np.log(chance[table.labelled])
    (np.add if across else np.maximum).at(logs, place[table.labelled], rarity)
    return np.asarray(np.exp(logs - logs.max()), dtype=np.float64)
