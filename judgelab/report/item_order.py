"""In which order a page of items shows its rows: where judge and people differ most first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC
from judgelab.report.judged_texts import Floats, JudgedTexts, Names

Unit = Literal["opposite", "points", "places", "places of all"]
"""What differences are counted in; see ``ItemOrder.unit``."""


@dataclass(frozen=True)
class ItemOrder:
    """What rows of a page can be sorted by."""

    rows: JudgedTexts

    @cached_property
    def unit(self) -> Unit:
        """``opposite``: of preferences and categories, from 0 (the same) to 1 (the opposite).
        ``points``: of grades, where every judge gives them on people's scale. Else ``places``:
        scores and grades are compared by their places among the texts of the item, 0 the same, 1
        the whole way from the first to the last; or ``places of all``, where items have one text.
        """
        if self.rows.kind != "grade":
            return "opposite"
        if all(_same_scale(said, self.rows.labels) for said in self.rows.said.T):
            return "points"
        both = ~np.isnan(self.rows.people)[:, None] & ~np.isnan(self.rows.said)
        several = any(_counts(self.rows.item[known]) > 1 for known in both.T)
        return "places" if several else "places of all"

    @cached_property
    def places(self) -> tuple[Floats, Floats, Floats]:
        """[rows, judges] the judge's place (1: the best; ties share theirs), people's, and of how
        many texts that both graded; NaN where there is only one. Of grades counted in places.
        """
        within = self.rows.item if self.unit == "places" else np.zeros(len(self.rows), object)
        parts = [_places(said, self.rows.people, within) for said in self.rows.said.T]
        if not parts:
            none = np.empty((len(self.rows), 0))
            return none, none, none
        judge, people, among = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
        return judge, people, among

    @cached_property
    def difference(self) -> Floats:
        """[rows, judges] between judge and people, in ``unit``; NaN where either is unknown."""
        said, people = self.rows.said, self.rows.people[:, None]
        if self.rows.kind == "category":
            labels = self.rows.labels
            differ = (labels[:, None, :] != said[:, :, None]) & ~np.isnan(labels)[:, None, :]
            count = (~np.isnan(labels)).sum(axis=1)[:, None]
            share = differ.sum(axis=2) / np.maximum(count, 1)
            return np.where(np.isnan(said) | (count == 0), np.nan, share)
        if self.unit in ("opposite", "points"):
            return np.abs(said - people)
        judge, others, among = self.places
        return np.abs(judge - others) / np.where(among > 1, among - 1, np.nan)

    @cached_property
    def spread(self) -> Floats:
        """[rows] how far the judges are apart: largest less smallest value, of grades by the
        place among the texts of the item; NaN with fewer than two.
        """
        said = self.rows.said
        if self.rows.kind == "grade":
            several = _counts(self.rows.item) > 1
            within = self.rows.item if several else np.zeros(len(self.rows), object)
            said = np.stack([_share(one, within) for one in said.T], axis=1) if said.size else said
        elif self.rows.kind == "category":
            known = ~np.isnan(said)
            most = [(said == k).sum(axis=1) for k in range(len(self.rows.levels))]
            count = known.sum(axis=1)
            off = 1 - np.max(most, axis=0, initial=0) / np.maximum(count, 1)
            return np.where(count > 1, off, np.nan)
        count = (~np.isnan(said)).sum(axis=1)
        top = np.where(np.isnan(said), -np.inf, said).max(axis=1, initial=-np.inf)
        low = np.where(np.isnan(said), np.inf, said).min(axis=1, initial=np.inf)
        return np.where(count > 1, top - np.where(count > 1, low, 0.0), np.nan)

    @cached_property
    def misplaced(self) -> Floats:
        """[rows] share of the item's texts of the other kind that the score puts on the wrong side:
        problematic ones above, or good-faith ones below; NaN where categories or scores lack.
        """
        found = np.full(len(self.rows), np.nan)
        if len(self.rows.judges) != 1:
            return found
        score, group = self.rows.said[:, 0], self.rows.group
        good, bad = (np.isin(group.astype(str), list(s)) for s in (GOOD_FAITH, PROBLEMATIC))
        for at in _of_items(self.rows.item):
            for mine, other, sign in ((good, bad, 1.0), (bad, good, -1.0)):
                own, rest = (at[m[at] & ~np.isnan(score[at])] for m in (mine, other))
                if len(own) and len(rest):
                    ahead = np.sign(np.round(sign * (score[rest][None] - score[own][:, None]), 12))
                    found[own] = ((ahead + 1) / 2).mean(axis=1)
        return found

    @property
    def sorts(self) -> dict[str, Floats]:
        """Name -> [rows] of what rows can be sorted by, largest first; the default stands first."""
        said, mean = self.rows.said, _row_mean(self.rows.said)
        made = {
            "difference": _row_mean(self.difference),
            "spread": self.spread,
            "misplaced": self.misplaced,
            "score": mean if self.rows.kind != "category" else np.full(len(said), np.nan),
            "change": np.abs(self.rows.attacked - mean),
            "people": self.rows.people if self.rows.kind == "grade" else np.full(len(said), np.nan),
        }
        return {name: values for name, values in made.items() if (~np.isnan(values)).any()}


def _same_scale(said: Floats, labels: Floats) -> bool:
    """Whether a judge gives grades as people do: none beyond theirs, and half of them as theirs."""
    given, known = labels[~np.isnan(labels)], said[~np.isnan(said)]
    if not len(given) or not len(known):
        return False
    inside = known.min() >= given.min() and known.max() <= given.max()
    return bool(inside and np.isin(known, given).mean() >= 0.5)


def _places(said: Floats, people: Floats, within: Names) -> tuple[Floats, Floats, Floats]:
    import pandas as pd

    both = ~np.isnan(said) & ~np.isnan(people)
    judge, others, among = (np.full(len(said), np.nan) for _ in range(3))
    groups = pd.DataFrame({"item": within, "said": said, "people": people})[both].groupby("item")
    judge[both] = groups["said"].rank(ascending=False)
    others[both] = groups["people"].rank(ascending=False)
    among[both] = groups["said"].transform("size")
    alone = among < 2
    judge[alone] = others[alone] = among[alone] = np.nan
    return judge, others, among


def _share(said: Floats, within: Names) -> Floats:
    """[rows] place among the texts of the item, from 0 (lowest) to 1; NaN of a single one."""
    import pandas as pd

    groups = pd.Series(said).groupby(within)
    size = groups.transform("count").to_numpy(float)
    place = groups.rank().to_numpy(float)
    return np.asarray((place - 1) / np.where(size > 1, size - 1, np.nan), np.float64)


def _row_mean(values: Floats) -> Floats:
    """Of what is known in each row; NaN without any."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _counts(items: Names) -> int:
    """The most rows that one item has."""
    return max(map(len, _of_items(items)), default=0)


def _of_items(items: Names) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Rows of each item."""
    found: dict[object, list[int]] = {}
    for k, name in enumerate(items):
        found.setdefault(name, []).append(k)
    return [np.array(rows, np.intp) for rows in found.values()]
