"""Labelled score arrays. Unscored is NaN, never 0; the diagonal of a pair array is NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.core.estimator import Estimator
from judgelab.core.panel import Panel

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Scores:
    """What a mechanism concluded."""

    agent: xr.DataArray  # [item, agent]: how good each response is
    # [item, agent, peer], symmetric, NaN diagonal: how well two responses of one item go together;
    # None where the mechanism has no such notion
    pair: xr.DataArray | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)  # position bias, ties, ...
    # [item, agent, peer]: the score f(x, y) of agent's text x against peer's text y as its
    # reference; None where texts are not scored against one another
    directed: xr.DataArray | None = None
    estimator: Estimator | None = None  # None where no LM's part was noted


def symmetric(pair: xr.DataArray) -> xr.DataArray:
    """Mean of the two directions; NaN where either is unscored."""
    return (pair + transposed(pair)) / 2


def transposed(pair: xr.DataArray) -> xr.DataArray:
    """Swap agent and peer, keeping the labels in place."""
    return pair.copy(data=np.swapaxes(pair.values, 1, 2))


TEXT, PAIR = ("item", "agent"), ("item", "agent", "peer")  # dims of what is measured


def measured(
    panel: Panel, **variables: tuple[tuple[str, ...], ArrayLike | Mapping[Any, float]]
) -> xr.Dataset:
    """A dataset of raw measurements, ``name=(dims, values)``, on the panel's items and agents.

    Values by their index are NaN elsewhere. The coordinate ``reference`` [agent] marks the human
    text, so that a mechanism can be scored from the measurements alone, without the panel and
    without a model.
    """
    import xarray as xr

    names = [agent.name for agent in panel.agents]
    sizes = {"item": len(panel.items), "agent": len(names), "peer": len(names)}

    def array(dims: tuple[str, ...], values: Any) -> NDArray[Any]:
        by_index = isinstance(values, Mapping)
        return array_of([sizes[dim] for dim in dims], values) if by_index else np.asarray(values)

    return xr.Dataset(
        {name: (dims, array(dims, values)) for name, (dims, values) in variables.items()},
        coords={
            "item": [item.id for item in panel.items],
            "agent": names,
            "peer": names,
            "reference": ("agent", [agent.reference for agent in panel.agents]),
        },
    )


def array_of(shape: Sequence[int], values: Mapping[Any, float]) -> NDArray[np.float64]:
    """Values by their index, as an array of this shape; NaN elsewhere."""
    array = np.full(shape, np.nan)
    for cell, value in values.items():
        array[cell] = value
    return array


def mean_over(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Mean of the scored entries along ``dim``; NaN (silently) where there is none."""
    count = values.notnull().sum(dim)
    return values.sum(dim, skipna=True) / count.where(count > 0)


def without_noise(values: xr.DataArray) -> xr.DataArray:
    """Rounded to twelve digits: shares of the same counts, summed in another order, stay tied."""
    return values.round(12)


def both_directions(directed: xr.DataArray) -> xr.DataArray:
    """[item, agent] from [item, agent, peer]: the mean of an agent's row and of its column.

    Each direction has a mean of its own, so whatever a direction adds to every value (the place
    in which a text is shown) enters once, however many values of it are missing; with values
    missing at random the mean is that of complete data. NaN where a direction holds no value.
    """
    return (mean_over(directed, "peer") + mean_over(transposed(directed), "peer")) / 2


def weaker_of_two(quality: xr.DataArray) -> xr.DataArray:
    """[item, agent, peer] the lower of two agents' qualities, by which mechanisms that score texts
    one by one take part in a comparison of pairs: a pair is as good as its worse half."""
    import xarray as xr

    alone = quality.reset_coords(drop=True)
    pair: xr.DataArray = xr.apply_ufunc(np.minimum, alone, alone.rename(agent="peer"))
    return pair.where(pair["agent"] != pair["peer"])
