"""Could a cheat have done it? One system's texts are attacked, all others stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Row, Table
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.means import item_change
from judgelab.stats.screen.blocks import Places, by_item, centred, matched, with_peers
from judgelab.stats.screen.verdicts import pooled
from judgelab.study.common.tables import named_columns
from judgelab.study.common.templates import table
from judgelab.study.screen.case import Critic, ScreenCase

Measure = Callable[[Panel, Sequence[Places]], Sequence[Critic]]
RISES = 0.05  # of an agent's own effect: what an attack surely adds that works


def attacked_panels(context: Context, panel: Panel, attacks: Mapping[str, Any]) -> dict[str, Panel]:
    """Attack -> the panel with every agent twice: as it is, and (in the same order) attacked."""
    writer, _ = context.writing("attack")
    found = {}
    for name, attack in attacks.items():
        if attack is not None:
            changed: Panel = attack.apply(panel, writer, seed=context.seed)
            agents = tuple(Agent(f"{one.name}, {name}") for one in panel.agents)
            rows = zip(panel.texts, changed.texts, strict=True)
            texts = tuple((*before, *after) for before, after in rows)
            found[name] = replace(panel, agents=(*panel.agents, *agents), texts=texts)
    return found


def attacks_table(
    case: ScreenCase, panels: Mapping[str, Panel], measure: Measure
) -> tuple[Table, list[str]]:
    """What every attack gains the agents that say something, and the attacks that work.

    No attack adds information, so whatever is gained is what the critics can be cheated of.
    """
    rows, works = list[Row](), list[str]()
    taking_part = [one.critic.name for one in case.pool]
    for name, panel in panels.items():
        critics = [one for one in measure(panel, case.blocks) if one.name in taking_part]
        even = [centred(one.scores) for one in critics]
        scores = pooled(even, case.blocks, [one.family for one in critics])
        before, after = _effects(scores, case)
        means = row_means(before.T)
        for k in case.those("something"):
            change = item_change((after[:, k] - before[:, k]) / means[k])
            others = np.delete(means, k)
            places = int((others > means[k]).sum() - (others > np.nanmean(after[:, k])).sum())
            row: Row = {"attack": name, "system": case.names[k], **named_columns("gain", change)}
            rows.append({**row, "places_gained": places, "items": change.n})
            if change.low > RISES and name not in works:
                works.append(name)
    rows.sort(key=lambda row: -float(row["gain"] or 0))
    return table(__package__, "attacks", rows), works


def _effects(scores: Sequence[Floats], case: ScreenCase) -> tuple[Floats, Floats]:
    """[items, agents] effects with the peers as they are, of an agent as it is and attacked."""
    n, group = len(case.names), case.facts.group
    before, after = (
        np.stack(
            [
                by_item(case.blocks, matched(with_peers(scores[k + shift][:, :n], k, group)))
                for k in range(n)
            ],
            axis=1,
        )
        for shift in (0, n)
    )
    return before, after
