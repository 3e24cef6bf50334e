"""Scores of one text against another: which pairs there are, and what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, mean_over, symmetric, weaker_of_two

if TYPE_CHECKING:
    import xarray as xr


def judged_pairs(panel: Panel) -> NDArray[np.bool_]:
    """[agent, peer] whether agent's text is scored against peer's.

    Where the panel marks references, candidates are scored against them (GEM paper, section 4.2);
    where it marks none, everybody against everybody else (section 4.1).
    """
    return _judged(np.array([agent.reference for agent in panel.agents], dtype=np.bool_))


def only_judged(directed: xr.DataArray) -> xr.DataArray:
    """The entries that ``judged_pairs`` names; NaN elsewhere.

    For scores that are computed from both directions and so exist for the pairs (y, x) too.
    """
    import xarray as xr

    mask = _judged(directed["reference"].values.astype(np.bool_))
    return directed.where(xr.DataArray(mask, dims=("agent", "peer")))


def score_directed(directed: xr.DataArray, diagnostics: dict[str, float] | None = None) -> Scores:
    """An agent's score is the mean of f(x, y) over its peers (GEM paper, section 4.1).

    The pair score is the symmetrised f where both directions were scored, else the weaker of
    the two agents' scores.
    """
    agent = mean_over(directed, "peer")
    both = symmetric(directed)
    return Scores(
        agent=agent,
        pair=both if bool(both.notnull().any()) else weaker_of_two(agent),
        diagnostics=diagnostics or {},
        directed=directed,
    )


def _judged(reference: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not reference.any():
        return ~np.eye(len(reference), dtype=np.bool_)
    return ~reference[:, None] & reference[None, :]
