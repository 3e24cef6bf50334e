"""Who gains by cheating alone: an attack on some agents' texts, the others' left as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.attack.protocol import ATTACKED
from judgelab.core.panel import Panel
from judgelab.report import format
from judgelab.stats.discrimination.effect_size import group_difference, score_delta
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind
from judgelab.study.common.panels import Panels

Mask = NDArray[np.bool_]
Answer = Literal["pays", "costs", "neither gain nor loss shown", "undecided"]


@dataclass(frozen=True)
class Sides:
    """Masks [agents]: the attackers, and the other agents (the human reference is in neither,
    unless it was attacked)."""

    attackers: Mask
    others: Mask


def sides(panel: Panel) -> Sides | None:
    """Who attacked; None where everybody did, or nobody."""
    names = panel.provenance.get(ATTACKED)
    if not isinstance(names, list):
        return None
    attackers = np.array([agent.name in names for agent in panel.agents], dtype=np.bool_)
    others = np.array([not agent.reference for agent in panel.agents], dtype=np.bool_) & ~attackers
    return Sides(attackers, others)


def one_sided_change(states: Panels, draws: int, seed: int, interval: Kind) -> dict[str, Estimate]:
    """What an attack of some does to their scores, to the others', and to the gap between them.

    Empty where everybody attacks. The others' scores move where texts are held against each other.
    """
    found = sides(states["attacked"].panel)
    if found is None:
        return {}
    clean, attacked = states["clean"].values, states["attacked"].values
    change = {
        f"{name}_score": score_delta(clean[:, mask], attacked[:, mask], draws, seed, interval)
        for name, mask in (("attackers", found.attackers), ("others", found.others))
        if mask.any()
    }
    if found.others.any():
        before, after = (
            group_difference(v, found.attackers, found.others)[:, None] for v in (clean, attacked)
        )
        change["advantage"] = score_delta(before, after, draws, seed, interval)
    return change


def answer(change: Mapping[str, Estimate]) -> Answer:
    """Whether cheating alone pays: the interval of the attackers' gain over the others."""
    gain = change.get("advantage", change["attackers_score"])
    if np.isnan(gain.low) or np.isnan(gain.high):
        # All items moved alike: no spread, hence no interval. The signs are a test still.
        if gain.value == 0:
            return "neither gain nor loss shown"
        return _by_sign(gain.value) if gain.p < 0.05 else "undecided"
    if gain.low > 0 or gain.high < 0:
        return _by_sign(gain.value)
    return "neither gain nor loss shown"


def _by_sign(gain: float) -> Answer:
    return "pays" if gain > 0 else "costs"


def verdict(attack: str, states: Panels, change: Mapping[str, Estimate]) -> str:
    """One sentence: what cheating alone does to the cheaters' scores and to the AUC."""
    panel = states["attacked"].panel
    found = sides(panel)
    assert found is not None
    count = int(found.attackers.sum())
    agents = "one agent" if count == 1 else f"{count} agents"
    said = {
        "pays": "cheating alone pays",
        "costs": "cheating alone costs",
        "neither gain nor loss shown": "neither a gain nor a loss by cheating alone is shown",
        "undecided": "whether cheating alone pays is undecided",
    }[answer(change)]
    parts = [f"their scores change by {_shown(change['attackers_score'])}"]
    if "others_score" in change:
        parts.append(f"those of the others by {_shown(change['others_score'])}")
    if "auc" in change and not np.isnan(change["auc"].value):
        parts.append(f"the AUC by {_shown(change['auc'])}")
    return (
        f"Under {attack} by {agents} of {len(panel.agents)}, {said}: {', '.join(parts)} "
        "(95 % intervals)."
    )


def _shown(estimate: Estimate) -> str:
    return format.estimate(estimate.value, estimate.low, estimate.high)
