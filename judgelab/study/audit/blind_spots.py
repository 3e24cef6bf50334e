"""The blind-spot reading in tables and words: what a panel's common answer rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import rng_for
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import clustered_means
from judgelab.stats.trust.blind_spots import PanelReading, rank_correlation, read_panel
from judgelab.stats.trust.dawid_skene import reports
from judgelab.stats.trust.peers import families
from judgelab.study.audit.evidence import UNKNOWN
from judgelab.study.audit.graded import as_pairs
from judgelab.study.common.tables import entries

FEWEST_UNITS = 20
"""Units below which a stratum is not read by itself."""

DEPENDS = 0.2
"""Share of answers that change with the panel from which on the common answer depends on it."""

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Group:
    """Units that are read together.

    Attributes:
        name: all, a stratum, or whether there is a label.
        units: [units of the table] which.
        reading: of them.
    """

    name: str
    units: Mask
    reading: PanelReading


@dataclass(frozen=True)
class Panelled:
    """The judges of a table (without controls) as a panel; graded texts as pairs.

    Attributes:
        table: preferences, or categories.
        counts: [judges, units, levels] of answers; a judge that grades one text at a time has one
            for each pair, whatever the order.
        family: [judges].
        truth: [units] number of the answer that people give; NaN: none, or tied.
        seed, draws: of panels and resamples.
    """

    table: JudgmentTable
    counts: Floats
    family: list[str]
    truth: Floats
    seed: int
    draws: int

    @staticmethod
    def of(table: JudgmentTable, seed: int, draws: int) -> Panelled:
        """From the whole table."""
        made = table if table.kind == "category" else as_pairs(table)
        made = made.of([one.name for one in made.judges if not one.control])
        levels = max(2, len(made.levels))
        counts = reports(made.verdicts, levels)
        once = [one.pointwise and made.kind == "preference" for one in made.judges]
        counts[once] /= 2
        truth = made.truth
        if made.kind == "preference":
            truth = np.where(truth == 0.5, np.nan, truth > 0.5) + 0 * truth
        family = families([one.family for one in made.judges], made.names)
        return Panelled(made, counts, family, truth, seed, draws)

    @property
    def credit(self) -> Floats:
        """[judges, units] share of a judge's answers that are people's; NaN without either."""
        known = ~np.isnan(self.truth)
        level = np.where(known, self.truth, 0).astype(int)
        given = self.counts.sum(axis=2)
        right = np.take_along_axis(self.counts, level[None, :, None], axis=2)[..., 0]
        return np.where(known & (given > 0), right / np.maximum(given, 1e-9), np.nan)

    @property
    def consistent(self) -> Floats:
        """[judges, units] whether both orders have one verdict; NaN where that is not asked."""
        verdicts = self.table.verdicts
        if verdicts.shape[2] < 2:
            return np.full(verdicts.shape[:2], np.nan)
        lost = np.isnan(verdicts).any(axis=2)
        once = np.array([one.pointwise for one in self.table.judges])[:, None]
        alike = (verdicts[..., 0] == verdicts[..., 1]).astype(np.float64)
        return np.where(lost | once, np.nan, alike)

    def groups(self) -> list[Group]:
        """All, each stratum, and the units with and without a label, as far as they differ."""
        units, labelled = self.table.units, ~np.isnan(self.truth)
        parts = {"all": np.ones(len(units), np.bool_)}
        strata = list(dict.fromkeys(str(name) for name in units.stratum))
        if len(strata) > 1:
            parts |= {name or "no stratum": units.stratum == name for name in strata}
        parts |= {"with a label": labelled, "without a label": ~labelled}
        whole = len(units)
        kept = {
            name: np.asarray(mask, np.bool_)
            for name, mask in parts.items()
            if name == "all" or FEWEST_UNITS <= int(np.sum(mask)) < whole
        }
        return [
            Group(name, mask, self.read(mask, rng_for(self.seed, "panels", name)))
            for name, mask in kept.items()
        ]

    def read(self, units: Mask, rng: np.random.Generator) -> PanelReading:
        """The reading of some units."""
        return read_panel(self.counts[:, units], self.family, rng)


def judges_table(panel: Panelled, whole: PanelReading) -> Table:
    """Each judge beside the others: consistency, agreement, ratings by the panel; and people."""
    cluster = panel.table.clusters
    estimates = {
        "same_in_both_orders": clustered_means(panel.consistent, cluster),
        "agrees_with_others": clustered_means(whole.agreed, cluster),
        "agrees_with_people": clustered_means(panel.credit, cluster),
    }
    rows: list[Row] = []
    for k, name in enumerate(panel.table.names):
        row: dict[str, str | int | float | bool | None] = {
            "judge": name,
            "family": panel.table.judges[k].family or None,
        }
        for key, each in estimates.items():
            one = each[k] if each[k].n else UNKNOWN
            row |= entries(key, one, "low", "high", "n", "unscored")
        row |= {"panel_rating": float(whole.rating[k]), "without_family": float(whole.apart[k])}
        rows.append(row)
    note = (
        "same_in_both_orders: share of pairs with one verdict whichever text is shown first. "
        "agrees_with_others: with the majority of the other families' answers. panel_rating: how "
        "often it would be right if all judges erred independently (one-coin Dawid-Skene); "
        "without_family: the same by the other families alone. None of these is an accuracy: "
        "judges that share an error rate each other high. agrees_with_people: on labelled units."
    )
    return Table("peers", "What judges say of each other", rows, note)


def reading_table(panel: Panelled, groups: Sequence[Group]) -> Table:
    """For all, and each stratum: do the answers depend on who is asked?"""
    rows: list[Row] = []
    for one in groups:
        reading, sure = one.reading, one.reading.votes >= 0.9
        truth = panel.truth[one.units]
        right = np.where(np.isnan(truth), np.nan, reading.answer == truth)
        rows.append(
            {
                "units": one.name,
                "n": int(one.units.sum()),
                "families": reading.families,
                "agreement": _mean(reading.agreed),
                "same_in_both_orders": _mean(panel.consistent[:, one.units]),
                "changed": _mean(reading.changed),
                "changed_one_each": _mean(reading.drawn),
                "nearly_all_agree": int(sure.sum()),
                "labelled": int((~np.isnan(truth)).sum()),
                "majority_right": _mean(right),
                "right_where_nearly_all_agree": _mean(right[sure]),
            }
        )
    note = (
        "changed: share of units whose most probable answer is another one when some family is "
        "left out; changed_one_each: in a panel with one judge of each family, drawn. Both are of "
        "these units and these judges alone, without an interval: other units or judges can give "
        "quite another share. nearly_all_agree: units on which 9 of 10 judges give one answer in "
        "both orders. majority_right: where people said which. Agreement is no evidence: judges "
        "that are fooled alike agree, too."
    )
    return Table("blind_spots", "Does the common answer depend on who is asked?", rows, note)


def map_table(panel: Panelled, groups: Sequence[Group]) -> Table:
    """The disagreement map: units by how many judges agree, and what became of their answers."""
    rows: list[Row] = []
    for one in groups:
        votes, truth = one.reading.votes, panel.truth[one.units]
        right = np.where(np.isnan(truth), np.nan, one.reading.answer == truth)
        cluster = panel.table.at(one.units).clusters
        for low, high in pairwise(EDGES):
            within = (votes >= low) & ((votes < high) | (high == 1))
            found = clustered_means(np.where(within, right, np.nan), cluster)[0]
            rows.append(
                {
                    "units": one.name,
                    "from": low,
                    "to": high,
                    "count": int(within.sum()),
                    "changed": _mean(one.reading.changed[within]),
                    **entries("majority_right", found, "low", "high", "n"),
                }
            )
    note = "from, to: share of the judges that give the most frequent answer in both orders."
    return Table("disagreement_map", "Where judges agree, and whether it helps", rows, note)


def label_table(panel: Panelled, whole: PanelReading, most: int) -> Table:
    """Units whose label would tell most about the panel, and some on which all agree."""
    open_ = np.isnan(panel.table.labels).all(axis=1) & ~np.isnan(whole.votes)
    doubt = np.nan_to_num(whole.changed) + np.nan_to_num(whole.drawn)
    order = np.lexsort((whole.votes, -doubt))
    first = [int(k) for k in order if open_[k] and doubt[k] > 0][: most - most // 3]
    agreed = np.flatnonzero(open_ & (whole.votes >= 0.9))
    rng = rng_for(panel.seed, "unanimous")
    more = rng.permutation(agreed)[: most - len(first)].tolist()
    units = panel.table.units
    rows: list[Row] = [
        {
            "item": str(units.item[k]),
            "first": str(units.first[k]),
            "second": str(units.second[k]) or None,
            "stratum": str(units.stratum[k]) or None,
            "votes": float(whole.votes[k]),
            "why": why,
        }
        for own, why in ((first, "depends on who is asked"), (more, "nearly all agree: drawn"))
        for k in own
    ]
    note = (
        "Labels of these say whether the judges are fooled alike. They were chosen, not drawn: "
        "agreement is not to be estimated from them alone (next_labels draws)."
    )
    return Table("label_to_see", "Items to label, to see blind spots", rows, note)


def held_against_people(panel: Panelled, whole: PanelReading) -> Estimate:
    """Spearman's correlation, over judges, of agreement with others and with people."""
    return rank_correlation(
        whole.agreed, panel.credit, panel.table.clusters, panel.draws, panel.seed
    )


def sentences(panel: Panelled, groups: Sequence[Group], guide: Estimate) -> Iterator[str]:
    """What may be said, and what may not."""
    yield (
        "Judges that agree are not thereby right: those that share an error agree on it, and "
        "nothing but labels or manipulations of known effect can tell. So no accuracy and no "
        "verdict follows from this part."
    )
    shares = {one.name: _mean(one.reading.changed) for one in groups}
    if shares["all"] == shares["all"]:
        yield _read(shares.pop("all"))
    parts = {name: share for name, share in shares.items() if share == share}
    for depends in (True, False):
        named = [
            f"{name} ({share:.0%})"
            for name, share in parts.items()
            if (share >= DEPENDS) == depends
        ]
        if named:
            how = "depends on who is asked" if depends else "hardly depends on who is asked"
            yield f"The common answer {how} in: {', '.join(named)}."
    if not np.isnan(guide.value):
        yield (
            "Held against the labels there are: judges that agree more with the other families "
            f"agree {_guide(guide)} with people (rank correlation {guide.value:.2f}, "
            f"{guide.low:.2f} to {guide.high:.2f}, {guide.n} judges). It may be otherwise on other "
            "items."
        )


def _read(share: float) -> str:
    """What it means that so many answers change."""
    if share >= DEPENDS:
        return (
            "The judges' common answer depends on who is asked: without one family or another "
            f"{share:.0%} of the answers change. Do not believe their majority."
        )
    return (
        f"The judges' common answer hardly depends on who is asked: {share:.0%} of the answers "
        "change without some family. That is so where judges are right, and also where all are "
        "fooled alike."
    )


def _guide(found: Estimate) -> str:
    if found.low > 0:
        return "more, here,"
    return "less" if found.high < 0 else "neither surely more nor surely less"


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
