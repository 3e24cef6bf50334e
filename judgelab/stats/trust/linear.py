"""Linear regressions of many judges at once, with covariances that hold within clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, jackknife_ends, left_out

SINGULAR = 1e10
"""Condition number of the scaled columns from which they say the same."""


@dataclass(frozen=True)
class Linear:
    """Least squares y = x b; ``coefficients``, ``error``, ``low`` and ``high`` [judges, columns].

    NaN where columns say the same of a judge, or there are too few clusters.

    Attributes:
        n, groups: [judges] rows and clusters used.
    """

    coefficients: Floats
    error: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    groups: NDArray[np.int64]


def clustered_linear(
    y: Floats, x: Floats, cluster: NDArray[np.intp], level: float = 0.95
) -> Linear:
    """Ordinary least squares, errors as of statsmodels' ``cov_type="cluster"``, ``jackknife_ends``.

    Args:
        y: [judges or 1, rows]; NaN is left out.
        x: [judges or 1, rows, columns], with a column of ones.
        cluster: [rows] numbers from 0.
    """
    judges, columns = max(len(y), len(x)), x.shape[2]
    target = np.broadcast_to(y, (judges, y.shape[1]))
    design = np.broadcast_to(x, (judges, *x.shape[1:]))
    known = ~np.isnan(target) & ~np.isnan(design).any(axis=2)
    target, design = np.where(known, target, 0.0), np.where(known[..., None], design, 0.0)
    n, groups = known.sum(axis=1), (cluster_sums(known, cluster) > 0).sum(axis=1)
    scale = np.sqrt((design**2).sum(axis=1) / np.maximum(n, 1)[:, None])
    scale = np.where(scale > 0, scale, 1.0)
    design = design / scale[:, None]
    gram = np.einsum("jrk,jrl->jkl", design, design)
    bad = (np.linalg.cond(gram) > SINGULAR) | (groups < FEWEST) | (n <= columns)
    gram[bad] = np.eye(columns)
    bread = np.linalg.inv(gram)
    beta = np.einsum("jkl,jrl,jr->jk", bread, design, target, optimize=True)
    score = design * ((target - np.einsum("jrk,jk->jr", design, beta)) * known)[..., None]
    sums = cluster_sums(score.transpose(0, 2, 1), cluster)
    added = np.einsum("jkl,jlg->jgk", bread, sums, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = groups / (groups - 1) * (n - 1) / (n - columns)
        error = np.sqrt(correction[:, None] * (added**2).sum(axis=1)) / scale
    beta, error = beta / scale, np.where(bad[:, None], np.nan, error)
    beta = np.where(bad[:, None], np.nan, beta)
    parts = cluster_sums(np.einsum("jrk,jrl->jklr", design, design), cluster)
    there = cluster_sums(known, cluster) > 0
    left = left_out(np.moveaxis(parts, -1, 1), np.moveaxis(sums, -1, 1), there) / scale[:, None]
    ends = [jackknife_ends(beta[:, k], left[:, :, k], groups, level) for k in range(columns)]
    low, high = (np.stack(side, axis=1) for side in zip(*ends, strict=True))
    return Linear(beta, error, low, high, n, groups)
