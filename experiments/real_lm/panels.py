"""Released panels cut to what two cores can score, and what large models said of the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.evaluation_lm.replay import Replay
from judgelab.mechanism.protocol import Mechanism
from judgelab.releases.peer_prediction.release import read_domain
from judgelab.study.common.groups import groups


def spread(members: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """So many of the members, evenly spaced in their order."""
    places = np.linspace(0, len(members) - 1, min(count, len(members))).round().astype(int)
    return members[places]


def chosen_agents(panel: Panel, count: int) -> list[int]:
    """As many good-faith as problematic agents, evenly spaced in the release's order."""
    group = groups(panel, "corrected")
    picked = [spread(np.flatnonzero(mask), count // 2) for mask in (group.good, group.bad)]
    return sorted(int(i) for part in picked for i in part)


def subpanel(panel: Panel, agents: Sequence[int]) -> Panel:
    """The panel with these agents alone."""
    return replace(
        panel,
        agents=tuple(panel.agents[i] for i in agents),
        texts=tuple(tuple(row[i] for i in agents) for row in panel.texts),
    )


def load(path: str, domain: str, items: int, agents: int) -> tuple[Panel, Panel, list[int]]:
    """The first items with every agent, the same with the chosen agents, and their indices."""
    whole = read_domain(path, domain).panel(items)
    picked = chosen_agents(whole, agents)
    return whole, subpanel(whole, picked), picked


def recorded(path: str, mechanism: Mechanism, whole: Panel, agents: list[int]) -> Scores:
    """Scores from the authors' records on the same items and agents.

    Raises:
        DataError: the release has none of this mechanism and domain.
    """
    data = Replay(path).recorded(mechanism.measurement, whole)
    cut: xr.Dataset = data.isel(agent=agents, peer=agents).drop_vars(
        "gppm_released", errors="ignore"
    )
    return mechanism.score(cut)
