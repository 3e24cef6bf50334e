"""An audit that asks judges about labelled units batch by batch, until their places are clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgelab.core.errors import ConfigError
from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.core.panel import rng_for
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.sequential.ends import Bounds, sequence_ends
from judgelab.stats.trust.agreement import means_within
from judgelab.study.audit.credits import credits_of
from judgelab.study.common.stopping import Stop

SHARE: Bounds = (0.0, 1.0)
ONE_LOOK = (
    "This run could stop after every batch (study.stop): agreement, gains and the gate hold at "
    "every look. All other intervals and tests of this page are of one look, and too sure by an "
    "unknown amount where what they are about goes with agreement."
)
LABELLED = (
    "Judges were asked about labelled items alone, so nothing is known of the others; where items "
    "come in clusters, agreement is the mean over clusters."
)


def in_turn(table: JudgmentTable, held: Mask, seed: int) -> tuple[JudgmentTable, list[Mask]]:
    """The table with the turn of each labelled cluster, and the units [units] of each turn.

    Turns are shuffled by the seed and the clusters' names. They take the place of the turns in
    which labels came: what is looked at one by one are now the judges' verdicts.

    Raises:
        ConfigError: there are no labels, or some were likelier to be asked for than others.
    """
    chance = table.units.chance[table.labelled]
    if not chance.size or (chance < np.nanmax(chance, initial=0.0)).any():
        raise ConfigError(
            "study.stop needs labels of people, all of which were equally likely to be asked for: "
            "leave study.stop out."
        )
    clusters = table.clusters
    names = list(dict.fromkeys(str(name) for name in table.units.cluster))
    there = np.unique(clusters[table.labelled & held])
    order = sorted(there.tolist(), key=lambda k: rng_for(seed, "stop", names[k]).random())
    place = np.full(len(names), np.nan)
    place[order] = np.arange(len(order))
    turn = place[clusters]
    units = replace(table.units, turn=turn)
    return replace(table, units=units), [held & (turn == k) for k in range(len(order))]


def asked_until(table: JudgmentTable, judged: Mask) -> Mask:
    """[units] labelled ones up to the turn at which a judge was asked last.

    What a stopped run did not ask about came after that, in random order: no judge left it out.
    """
    turn = np.where(np.isnan(table.units.turn), np.inf, table.units.turn)
    own = turn[judged & table.labelled]
    return np.asarray(table.labelled & (turn <= own.max(initial=-1.0)))


def credits_in_turn(table: JudgmentTable, judges: Sequence[str]) -> Floats:
    """[turns, judges] what judges earned, NaN where they were not asked."""
    credits = credits_of(table)
    rows = [credits.judges.index(name) for name in judges]
    by_cluster = means_within(credits.item[rows], credits.cluster, len(credits.clusters))
    return np.asarray(by_cluster[:, credits.labelled_clusters].T)


def at_every_look(
    found: Sequence[Estimate], by_cluster: Floats, bounds: Bounds, level: float, pool: int | None
) -> list[Estimate]:
    """Estimates with the sequence's intervals, of means over clusters as these are.

    Args:
        by_cluster: [estimates, clusters] means in the order in which clusters were asked about.
    """
    low, high = sequence_ends(by_cluster, level, bounds, pool)
    known = ~np.isnan(by_cluster)
    mean = divide(np.where(known, by_cluster, 0.0).sum(axis=1), known.sum(axis=1))
    ends = zip(found, mean, low, high, strict=True)
    return [replace(one, value=float(m), low=float(a), high=float(b)) for one, m, a, b in ends]


def sentences(stop: Stop, asked: Mapping[str, int], turns: int, left: Sequence[str]) -> list[str]:
    """How much was asked of whom, and who is still open.

    Args:
        asked: judge -> clusters it was asked about.
    """
    share = 1 - sum(asked.values()) / max(1, turns * len(asked))
    each = ", ".join(f"{name} {n}" for name, n in asked.items())
    said = [f"Asked of {turns} labelled items (or clusters of them): {each}."]
    said.append(f"{share:.0%} of the questions were saved.")
    if left:
        said.append(f"Left open, though all items were asked: the place of {', '.join(left)}.")
    elif stop.order is not None:
        what = "their order" if stop.top is None else f"who is among the best {stop.top}"
        said.append(f"Sure ({stop.order:g}): {what} by agreement with people.")
    else:
        said.append(f"Agreement is known to a width of {stop.width:g} of every judge.")
    return [*said, ONE_LOOK, LABELLED]
