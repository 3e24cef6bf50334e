"""Is P(x) P(y|x) = P(y) P(x|y) for an LM? (GEM paper, appendix A.5)

Both sides are the probability of the same two texts, so their logarithms share the length of
the pair, and length alone makes them correlate. Divided by the tokens of the pair they do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.arrays import Floats, checked
from judgelab.stats.correlation import clustered_correlation
from judgelab.stats.estimate import Estimate


@dataclass(frozen=True)
class Symmetry:
    """Agreement of log P(x) + log P(y|x) with log P(y) + log P(x|y).

    Attributes:
        per_text: correlation of the sums (nats per pair of texts), as the paper has it.
        per_token: correlation of the sums divided by the tokens of both texts.
        gap: mean over pairs of the absolute difference, in nats per token; NaN without pairs.
        pairs: pairs with all four log-probabilities.
        unscored: the other pairs.
    """

    per_text: Estimate
    per_token: Estimate
    gap: float
    pairs: int
    unscored: int


def symmetry(
    marginal: ArrayLike,
    conditional: ArrayLike,
    tokens: ArrayLike,
    method: Literal["spearman", "pearson"] = "spearman",
    definition: Literal["corrected", "paper"] = "corrected",
    draws: int = 2000,
    seed: int = 0,
) -> Symmetry:
    """Correlation over pairs of texts of one item, clustered by item.

    corrected: each unordered pair once, x being the agent that comes first. paper: in both
    orders, which doubles the number of pairs (5,328 of 1,874 reviews of 500 papers) but says
    nothing new; the value then no longer depends on the order of the agents.

    Args:
        marginal: [items, agents] log P(x), nats; NaN where unscored.
        conditional: [items, agents x, agents y] log P(y|x), nats: x is read, y is scored. The
            diagonal is never read.
        tokens: [items, agents] number of scored tokens; NaN where unscored.
        method: spearman or pearson (of the log-probabilities).
        definition: which pairs.
        draws: bootstrap resamples of items.
        seed: of the resamples.

    Returns:
        In each estimate n counts items, unscored pairs.

    Raises:
        ValueError: shapes do not fit, infinities, or a text without tokens.
    """
    alone = checked(marginal, 2, "The marginal log-probabilities")
    length = checked(tokens, 2, "The token counts")
    given = np.array(conditional, dtype=np.float64)
    if given.ndim == 3 and given.shape[1] == given.shape[2]:
        given[:, np.arange(given.shape[1]), np.arange(given.shape[1])] = np.nan
    given = checked(given, 3, "The conditional log-probabilities")
    if length.shape != alone.shape or given.shape != (*alone.shape, alone.shape[1]):
        raise ValueError(
            f"Needs [items, agents], [items, agents, agents] and [items, agents], got "
            f"{alone.shape}, {given.shape} and {length.shape}."
        )
    if (length <= 0).any():
        raise ValueError("A text without tokens has no log-probability: mark it as NaN.")
    first, second, size = _sides(alone, given, length, definition)
    per_text = clustered_correlation(first, second, method, draws, seed)
    per_token = clustered_correlation(first / size, second / size, method, draws, seed)
    gaps = np.abs(first - second) / size
    known = ~np.isnan(gaps)
    gap = float(gaps[known].mean()) if known.any() else float("nan")
    pairs = int(np.count_nonzero(known))
    return Symmetry(per_text, per_token, gap, pairs, known.size - pairs)


def _sides(
    alone: Floats, given: Floats, length: Floats, definition: str
) -> tuple[Floats, Floats, Floats]:
    """[items, pairs]: log P(x) + log P(y|x), log P(y) + log P(x|y), tokens of both."""
    if definition not in ("corrected", "paper"):
        raise ValueError(f"Unknown definition {definition!r}: choose corrected or paper.")
    x, y = np.triu_indices(alone.shape[1], k=1)
    if definition == "paper":
        x, y = np.concatenate([x, y]), np.concatenate([y, x])
    first = alone[:, x] + given[:, x, y]
    second = alone[:, y] + given[:, y, x]
    size = length[:, x] + length[:, y]
    unknown = np.isnan(first + second + size)
    first[unknown] = second[unknown] = size[unknown] = np.nan
    return first, second, size
