"""Is P(x) P(y|x) = P(y) P(x|y) for an LM? (GEM paper, appendix A.5)

Both sides are the probability of the same two texts, so their logarithms share the length of
the pair, and length alone makes them correlate. Divided by the tokens of the pair they do not.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.discrimination.correlation import METHODS, clustered_correlation
from judgelab.stats.intervals.arrays import checked
from judgelab.stats.intervals.estimate import Estimate


def joint_symmetry(
    conditional: ArrayLike,
    marginal: ArrayLike,
    tokens: ArrayLike,
) -> Mapping[tuple[str, str], Estimate]:
    """Correlation of log P(x) + log P(y|x) with log P(y) + log P(x|y), clustered by item.

    Each unordered pair enters once, x being the agent that comes first. The paper counts both
    orders (5,328 of 1,874 reviews of 500 papers), which adds no information.

    Args:
        conditional: [items, agents x, agents y] log P(y|x), nats summed over y: x is read, y is
            scored. The diagonal is never read.
        marginal: [items, agents] log P(x), nats; NaN where unscored.
        tokens: [items, agents] number of scored tokens; NaN where unscored.

    Returns:
        (per, method) -> estimate. per: ``text``, the sums as the paper has them, or ``token``,
        the sums divided by the tokens of both texts; method: spearman or pearson. n counts
        items, unscored pairs.
    """
    given = np.array(conditional, dtype=np.float64)
    alone = checked(marginal, 2, "The marginal log-probabilities")
    length = checked(tokens, 2, "The token counts")
    if length.shape != alone.shape or given.shape != (*alone.shape, alone.shape[1]):
        raise ValueError(
            "Needs [items, agents, agents], [items, agents] and [items, agents], got "
            f"{given.shape}, {alone.shape} and {length.shape}."
        )
    if (length <= 0).any():
        raise ValueError("A text without tokens has no log-probability: mark it as NaN.")
    x, y = np.triu_indices(alone.shape[1], k=1)
    first, second = alone[:, x] + given[:, x, y], alone[:, y] + given[:, y, x]
    size = length[:, x] + length[:, y]
    unknown = np.isnan(first + second + size)
    first[unknown] = second[unknown] = size[unknown] = np.nan
    sides = {"text": (first, second), "token": (first / size, second / size)}
    return {
        (per, method): clustered_correlation(*sides[per], method)
        for per in sides
        for method in METHODS
    }
