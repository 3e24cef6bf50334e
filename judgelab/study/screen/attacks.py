"""Could a cheat have done it? One system's texts are attacked, all others stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Row, Table
from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_change, item_mean
from judgelab.stats.screen.blocks import Places, by_item, centred, effects
from judgelab.stats.screen.verdicts import pooled
from judgelab.study.common.tables import named_columns
from judgelab.study.common.templates import table
from judgelab.study.screen.case import Critic, ScreenCase

Measure = Callable[[Panel, Sequence[Places]], Sequence[Critic]]
RISES = 0.05  # of an agent's own effect: what an attack surely adds that works


def twice(panel: Panel, changed: Panel, name: str) -> Panel:
    """Every agent as it is and (in the same order) attacked."""
    agents = tuple(Agent(f"{one.name}, {name}") for one in panel.agents)
    rows = zip(panel.texts, changed.texts, strict=True)
    texts = tuple((*before, *after) for before, after in rows)
    return replace(panel, agents=(*panel.agents, *agents), texts=texts)


def discernment(scores: Floats, blocks: Sequence[Places]) -> Estimate:
    """AUC of a text's scores with its peers' of the same item over those of what an attack left of
    it; mean over agents. Of scores [blocks, 2 agents, 2 agents, m, m] of a panel of ``twice``."""
    n = scores.shape[1] // 2
    same = by_item(blocks, np.einsum("kabii->kiab", centred(scores)[:, :, :n]))
    own = np.eye(n, dtype=np.bool_)
    before, after = (np.where(own, np.nan, one).reshape(-1, n) for one in np.split(same, 2, axis=1))
    return item_mean(row_means(row_auc(before, after).reshape(-1, n)), (0.0, 1.0))


@dataclass(frozen=True)
class Tried:
    """What attacks did. None adds information, so what is gained is what critics are cheated of."""

    table: Table  # what each gains the agents that say something
    works: Sequence[str]  # attacks that surely gain an agent something
    told: Mapping[str, Mapping[str, Estimate]]  # degradation -> critic -> its ``discernment``


def tried(
    case: ScreenCase, panels: Mapping[str, Panel], attacks: Mapping[str, Any], measure: Measure
) -> Tried:
    """Every attack on every agent, the others as they are."""
    rows, works = list[Row](), list[str]()
    told: dict[str, dict[str, Estimate]] = {}
    n, those = len(case.names), case.those("something")
    chosen = [*those, *(k + n for k in those)]
    taking_part = [one.critic.name for one in case.pool]
    for name, panel in panels.items():
        if not taking_part or not any(text for row in panel.texts for text in row[n:]):
            continue  # nobody to notice it, or texts too short for it
        asked = measure(panel, case.blocks)
        if attacks[name].expects == "fall" and len(chosen) > 2:
            cells = {one.name: one.scores[:, chosen][:, :, chosen] for one in asked}
            told[name] = {key: discernment(own, case.blocks) for key, own in cells.items()}
        pool = [one for one in asked if one.name in taking_part]
        even = [centred(one.scores) for one in pool]
        scores = pooled(even, case.blocks, [one.family for one in pool])
        before, after = (  # with peers as they are
            effects([one[:, :n] for one in own], case.blocks, case.facts.group)
            for own in (scores[:n], scores[n:])
        )
        means = row_means(before.T)
        for k in those:
            change = item_change((after[:, k] - before[:, k]) / means[k])
            others = np.delete(means, k)
            places = int((others > means[k]).sum() - (others > np.nanmean(after[:, k])).sum())
            row: Row = {"attack": name, "system": case.names[k], **named_columns("gain", change)}
            rows.append({**row, "places_gained": places, "items": change.n})
            if change.low > RISES and name not in works:
                works.append(name)
    rows.sort(key=lambda row: -float(row["gain"] or 0))
    return Tried(table(__package__, "attacks", rows), works, told)
