"""How far judges agree with judges of other families; which is no evidence that they are right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask

TIE = 1e-9
"""Shares of votes closer than that are tied."""


def families(names: Sequence[str], judges: Sequence[str]) -> list[str]:
    """The family of each judge; of one without a name, the judge itself."""
    return [name or f"({judge})" for name, judge in zip(names, judges, strict=True)]


def without_each(family: Sequence[str]) -> tuple[list[str], Mask]:
    """Families in order of appearance, and [families, judges] everybody but their members."""
    names = list(dict.fromkeys(family))
    return names, np.array([[one != name for one in family] for name in names], np.bool_)


def one_of_each(family: Sequence[str], panels: int, rng: np.random.Generator) -> Mask:
    """[panels, judges] panels with one judge of each family, drawn alike."""
    made = np.zeros((panels, len(family)), np.bool_)
    for name in dict.fromkeys(family):
        own = np.flatnonzero(np.array(family, dtype=object) == name)
        made[np.arange(panels), rng.choice(own, size=panels)] = True
    return made


def vote(counts: Floats, panels: Mask) -> Floats:
    """[panels, units, levels] share of the answers of a panel; NaN where it gave none.

    Args:
        counts: [judges, units, levels], see ``dawid_skene.reports``.
    """
    votes = np.tensordot(panels.astype(float), counts, axes=(1, 0))
    asked = votes.sum(axis=2, keepdims=True)
    return np.asarray(np.where(asked > 0, votes / np.where(asked > 0, asked, 1), np.nan))


def majority(shares: Floats) -> Floats:
    """[...] number of the answer with most votes; NaN without votes, -1 where it is tied."""
    top = shares.max(axis=-1, keepdims=True)
    tied = (shares >= top - TIE).sum(axis=-1) > 1
    found = np.where(tied, -1, np.nan_to_num(shares).argmax(axis=-1))
    return np.asarray(np.where(np.isnan(shares).any(axis=-1), np.nan, found), np.float64)


def sides_with(counts: Floats, panels: Mask) -> Floats:
    """[judges, units] whether a judge gives the answer of its panel's majority.

    1 or 0, half where the judge's own answers are tied (orders differ), 0 where the panel's are:
    it has no majority to agree with. NaN where either gave no answer.

    Args:
        counts: [judges, units, levels].
        panels: [judges, judges] whose majority each judge is held against.
    """
    own = majority(np.where(counts.sum(axis=2, keepdims=True) > 0, counts, np.nan))
    other = majority(vote(counts, panels))
    agreed = np.where(own == -1, 0.5, (own == other).astype(float))
    return np.asarray(np.where(np.isnan(own) | np.isnan(other), np.nan, agreed))
