"""What became of every call: how many gave nothing, and whose texts they were about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import xarray as xr

MISSING = "missing_calls"
"""Of a dataset: [item, agent] calls without a result in which the agent's text took part."""


def with_calls(
    data: xr.Dataset,
    cells: ArrayLike,
    values: Iterable[float],
    answered: Iterable[bool] | None = None,
) -> xr.Dataset:
    """The dataset with its calls counted.

    Adds the attributes ``calls``, ``failed_calls`` (no reply at all) and ``unread_calls`` (a reply
    that says none of what was asked); and, where any is missing, ``missing_calls`` [item, agent].

    Args:
        cells: [calls, 3 or more] item, agent and peer of every call; an agent by itself is its
            own peer.
        values: what each call gave; NaN for nothing.
        answered: whether there was a reply; None where a call without a value has failed.
    """
    missing = np.isnan(np.fromiter(values, dtype=np.float64))
    failed = missing if answered is None else missing & ~np.fromiter(answered, dtype=np.bool_)
    count = {"calls": len(missing), "failed_calls": int(failed.sum())}
    data = data.assign_attrs(count, unread_calls=int(missing.sum()) - count["failed_calls"])
    if not missing.any():
        return data
    touched = np.zeros((data.sizes["item"], data.sizes["agent"]), dtype=np.int64)
    item, agent, peer = np.asarray(cells)[missing, :3].T
    np.add.at(touched, (item, agent), 1)
    np.add.at(touched, (item[agent != peer], peer[agent != peer]), 1)
    return data.assign({MISSING: (("item", "agent"), touched)})
