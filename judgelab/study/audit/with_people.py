"""Agreement of judges, controls and people with people, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.bootstrap import item_weights
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Places, clustered_means, means_within, wider
from judgelab.stats.trust.ceiling import (
    grade_agreement,
    label_agreement,
    resampled_grade_agreement,
)
from judgelab.stats.trust.ties import folds, pairs_within, resampled_agreement
from judgelab.study.audit.credits import said_of_texts
from judgelab.study.audit.evidence import UNKNOWN
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.stopped import asked_until, at_every_look

DRAWS = 200
"""Resamples of grades: enough for a spread, which is all that is taken from them."""

FITTED = ("most frequent", "system", "stratum")
"""Controls that say what people said elsewhere."""

SHARE, CHANGE = (0.0, 1.0), (-1.0, 1.0)


@dataclass(frozen=True)
class Resamples:
    """Means over items in resampled clusters, thresholds of ties fitted anew.

    Attributes:
        judges: [draws, judges].
        controls: [draws, controls].
        groups: clusters drawn.
        people, with_one: [draws], [draws, judges] with single people; None with one rater.
    """

    judges: Floats
    controls: Floats
    groups: int
    people: Floats | None
    with_one: Floats | None


@dataclass(frozen=True)
class AgreementWithPeople:
    """What there is to say about agreement, on the items with labels.

    Attributes:
        case: the audit.
    """

    case: AuditCase

    @property
    def level(self) -> float:
        """Of the intervals."""
        return 1 - self.case.rules.alpha

    @cached_property
    def seen(self) -> Mask:
        """[items] with labels."""
        return self.case.credits.labelled

    @cached_property
    def cluster(self) -> Places:
        """[items with labels]."""
        return self.case.credits.cluster[self.seen]

    @cached_property
    def weight(self) -> Floats:
        """[items with labels]."""
        return self.case.credits.weight[self.seen]

    @cached_property
    def agreement(self) -> list[Estimate]:
        """Of every judge with the people together."""
        draws = None if self.resamples is None else self.resamples.judges
        found = self._means(self.case.credits.item[:, self.seen], SHARE, draws)
        return self._of_asked(found) if self.case.stop.on else found

    def _of_asked(self, found: list[Estimate]) -> list[Estimate]:
        """Estimates of judges: what a stopped run did not ask about is not unscored."""
        table, place, made = self.case.table, self.case.credits.place, []
        for one, asked in zip(found, np.asarray(table.asked.any(axis=2)), strict=True):
            due = np.zeros(len(self.seen), np.bool_)
            due[place[asked_until(table, asked)]] = True
            made.append(replace(one, unscored=int((due & self.seen).sum()) - one.n))
        return made

    @cached_property
    def controls(self) -> list[Estimate]:
        """Of every control; no interval where it gets the same on every item, nor of preferences
        and categories where it was fitted to these labels: on others it may say something else."""
        credit = self.case.credits.control[:, self.seen]
        draws = None if self.resamples is None else self.resamples.controls
        found = self._means(credit, SHARE, draws)
        fitted = () if self.case.table.kind == "grade" else FITTED
        same = [
            name in fitted or float(np.nanmin(x)) == float(np.nanmax(x))
            for name, x in zip(self.case.credits.controls, credit, strict=True)
        ]
        return [
            Estimate(one.value, n=one.n, unscored=one.unscored) if known else one
            for one, known in zip(found, same, strict=True)
        ]

    @cached_property
    def gains(self) -> list[list[Estimate]]:
        """[judges][controls]."""
        gains, draws = self.case.credits.gains[:, :, self.seen], None
        if self.resamples is not None:
            off = self.resamples.judges[:, :, None] - self.resamples.controls[:, None]
            draws = off.reshape(len(off), -1)
        found = self._means(gains.reshape(-1, gains.shape[2]), CHANGE, draws)
        count = gains.shape[1]
        return [found[k : k + count] for k in range(0, len(found), count)]

    def beside(self, judge: int, control: int) -> float:
        """What a control gets on the items of the judge's gain over it."""
        credits = self.case.credits
        there = ~np.isnan(credits.gains[judge, control])
        if not there.any():
            return float("nan")
        return float(np.average(credits.control[control, there], weights=credits.weight[there]))

    def best_control(self, judge: int) -> int:
        """Place of the control that is best on the judge's items; a judge is not its own."""
        credits, name = self.case.credits, self.case.table.names[judge]
        gains = [
            np.inf if np.isnan(one.value) or credits.controls[k] == name else one.value
            for k, one in enumerate(self.gains[judge])
        ]
        return int(np.argmin(gains))

    @cached_property
    def people(self) -> tuple[Floats, Floats] | None:
        """[twice], [judges, twice] agreement with single people; None with one rater."""
        table, credits = self.case.table, self.case.credits
        if ((~np.isnan(table.labels)).sum(axis=1) < 2).all():
            return None
        count, place = len(credits.items), credits.place
        if table.kind == "grade":
            among, judged = grade_agreement(*self._grades, place, self._unit_cluster, count)
        else:
            categories = table.kind == "category"
            said = label_agreement(table.verdicts, table.asked, table.labels, categories)
            among, judged = (means_within(x, place, count) for x in said)
        return among[self.twice], judged[:, self.twice]

    @cached_property
    def twice(self) -> Mask:
        """[items] that people are held against each other on: those with split labels among them.

        Without these (nothing that most people say) two people would agree on all that is left.
        """
        if self.case.table.kind == "grade":
            return self.seen
        several = (~np.isnan(self.case.table.labels)).sum(axis=1) >= 2
        known = np.bincount(self.case.credits.place, several, len(self.case.credits.items)) > 0
        return np.asarray(self.seen | known, np.bool_)

    @cached_property
    def with_one(self) -> list[Estimate]:
        """Of every judge with single people, as people with each other; empty with one rater."""
        draws = None if self.resamples is None else self.resamples.with_one
        return self._means(self.people[1], SHARE, draws, self.twice) if self.people else []

    @cached_property
    def ceiling(self) -> Estimate:
        """Of people with each other."""
        if self.people is None:
            return UNKNOWN
        draws = None if self.resamples is None else self.resamples.people
        column = None if draws is None else draws[:, None]
        return self._means(self.people[0][None], SHARE, column, self.twice)[0]

    @property
    def compared(self) -> bool:
        """Whether people's agreement with each other is known from enough items to be a bar."""
        return self.people is not None and self.ceiling.n >= self.case.rules.labels

    @cached_property
    def more_than_people(self) -> list[Estimate]:
        """Of every judge with single people, less people with each other."""
        if self.people is None:
            return []
        found, draws = self.resamples, None
        if found is not None and found.people is not None and found.with_one is not None:
            draws = found.with_one - found.people[:, None]
        return self._means(self.people[1] - self.people[0], CHANGE, draws, self.twice)

    @cached_property
    def tied(self) -> list[bool]:
        """Of grades: whether a judge's order is not surely better than calling all pairs ties."""
        if self.case.table.kind != "grade":
            return [False] * len(self.agreement)
        place = self.case.credits.controls.index("always tie")
        return [not row[place].low > 0 for row in self.gains]

    @cached_property
    def unparsed(self) -> Places:
        """[judges] verdicts asked for and missing."""
        table = self.case.table
        return np.asarray((table.asked & np.isnan(table.verdicts)).sum(axis=(1, 2)), np.intp)

    @cached_property
    def resamples(self) -> Resamples | None:
        """Of grades, whose ties are calibrated; else credits alone tell how much they vary."""
        case, credits = self.case, self.case.credits
        if case.table.kind != "grade":
            return None
        times, groups = self._times()
        scores, asked, labels = self._grades
        truth, cluster = case.table.truth, self._unit_cluster
        said = said_of_texts(case.table, truth, folds(cluster))
        rows = np.array(list(said.values()))
        pairs = pairs_within(credits.place, ~np.isnan(truth))
        judges, told = (
            resampled_agreement(s, a, truth, pairs, cluster, times)
            for s, a in ((scores, asked), (rows, ~np.isnan(rows)))
        )
        found = dict(zip(case.table.names, judges.T, strict=True))
        found |= dict(zip(said, told.T, strict=True))
        for name, credit in zip(credits.controls, credits.control, strict=True):
            if name in ("random", "always tie"):
                by_cluster = means_within(credit, credits.cluster, times.shape[1])
                there = ~np.isnan(by_cluster)
                found[name] = times @ np.nan_to_num(by_cluster) / (times @ there)
        controls = np.stack([found[name] for name in credits.controls], axis=1)
        if self.people is None:
            return Resamples(judges, controls, groups, None, None)
        one = resampled_grade_agreement(scores, asked, labels, credits.place, cluster, times)
        return Resamples(judges, controls, groups, *one)

    def _times(self) -> tuple[Floats, int]:
        """[draws, clusters] how often each labelled one was drawn, times its weight; how many."""
        cluster = self.case.credits.cluster
        drawn = np.unique(self.cluster)
        times = np.zeros((DRAWS, int(cluster.max()) + 1))
        times[:, drawn] = item_weights(len(drawn), DRAWS, self.case.seed)
        weight = means_within(self.case.credits.weight, cluster, times.shape[1])
        return times * np.nan_to_num(weight), len(drawn)

    @property
    def _unit_cluster(self) -> Places:
        """[units] numbered as the clusters of items."""
        return self.case.credits.cluster[self.case.credits.place]

    @property
    def _grades(self) -> tuple[Floats, Mask, Floats]:
        table = self.case.table
        return table.verdicts[:, :, 0], table.asked[:, :, 0], table.labels

    def _means(
        self,
        values: Floats,
        bounds: tuple[float, float],
        draws: Floats | None,
        items: Mask | None = None,
    ) -> list[Estimate]:
        """Of each row [rows, items]; draws [draws, rows] may widen the intervals.

        Args:
            items: [all items] which the columns are; None: ``seen``.
        """
        at = self.seen if items is None else items
        credits = self.case.credits
        cluster, weight = credits.cluster[at], credits.weight[at]
        found = clustered_means(values, cluster, bounds, self.level, weight)
        if self.case.stop.on:
            by_cluster = means_within(values, cluster, len(credits.clusters))
            turns = by_cluster[:, credits.labelled_clusters]
            pool = self.case.stop.of(turns.shape[1], bounds)
            return at_every_look(found, turns, bounds, self.level, pool)
        if draws is None or self.resamples is None:
            return found
        return wider(found, draws, self.resamples.groups, bounds, self.level)
