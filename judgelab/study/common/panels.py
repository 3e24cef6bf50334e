"""A panel with what was measured on it, and the scores: kept in the run's folder as it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.long_tables import write_records


@dataclass(frozen=True)
class ScoredPanel:
    """The clean panel, or the attacked one, and the mechanism's scores of its texts."""

    panel: Panel
    measured: xr.Dataset
    scores: Scores

    @property
    def values(self) -> Floats:
        """[items, agents] scores, NaN where unscored."""
        return np.asarray(self.scores.agent.values, dtype=np.float64)

    @property
    def candidates(self) -> list[int]:
        """Columns of the agents that are not references."""
        return [k for k, agent in enumerate(self.panel.agents) if not agent.reference]

    @property
    def origin(self) -> dict[str, object]:
        """How panel and measurements were made, for the provenance of a result."""
        return origin_of(self.panel, self.measured.attrs)


Panels = Mapping[str, ScoredPanel]


def score_panels(
    context: Context, panels: Mapping[str, Panel], definition: Definition, *, pairs: bool = False
) -> dict[str, ScoredPanel]:
    """Measure and score each panel, and write its records; those of pairs where asked for."""
    found = {}
    for name, panel in panels.items():
        measured = context.measure(panel)
        scores = context.score(measured, definition)
        found[name] = ScoredPanel(panel, measured, scores)
    for name, one in found.items():
        write_records(context, one.panel, one.measured, one.scores, name=name, pairs=pairs)
    return found


def human_scores(panel: Panel) -> Floats:
    """[items, agents] people's scores, NaN without one."""
    names = [agent.name for agent in panel.agents]
    human = [[item.human.get(name, np.nan) for name in names] for item in panel.items]
    return np.array(human, dtype=np.float64).reshape(len(panel.items), len(names))
