"""Which other items stand in for "independent sources" (the product of marginals P-)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.panel import rng_for


def folds(item_ids: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """[items] fold of each item: shuffled by seed and id, whatever their order, and dealt out."""
    order = np.argsort([rng_for(seed, "folds", item_id).random() for item_id in item_ids])
    result = np.empty(len(item_ids), dtype=np.int64)
    result[order] = np.arange(len(item_ids)) % count
    return result


def partners(
    item_ids: Sequence[str], fold: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """[items, count] indices of other items of the same fold, drawn without repetition.

    Partners stay inside the fold, so that measurements of one fold never touch an item of
    another and a threshold learnt on the others is independent of what it is applied to.

    Raises:
        ConfigError: a fold is too small for ``count`` distinct partners.
    """
    rows = []
    by_id = np.argsort(np.array(item_ids))  # so that the order of the items changes no draw
    for k, item_id in enumerate(item_ids):
        others = by_id[(fold[by_id] == fold[k]) & (by_id != k)]
        if len(others) < count:
            raise ConfigError(
                f"mechanism.negatives={count} needs at least {count + 1} items in each of the "
                f"{fold.max() + 1} folds, but this run has {len(item_ids)} items: raise limit, "
                f"or lower mechanism.negatives."
            )
        rows.append(rng_for(seed, "negatives", item_id).choice(others, count, replace=False))
    return np.array(rows, dtype=np.int64).reshape(len(item_ids), count)
