"""Logistic regressions of many judges at once, with covariances that hold within clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import Ends
from judgelab.stats.trust.clustered import cluster_sums, jackknife_ends, left_out

STEPS = 25
STEP = 1e-8
"""Newton's method ends below this change; on separated data it never does."""


@dataclass(frozen=True)
class Logit:
    """Fits of logit P(y = 1) = x b.

    Attributes:
        coefficients: [judges, columns]; NaN where the fit did not converge: a combination of
            columns (nearly) separates wins from losses, so that no finite coefficient fits best.
        error: [judges, columns] standard errors, clustered.
        added: [judges, clusters, columns] what each cluster adds to the coefficients.
        left: [judges, clusters, columns] what leaving out a cluster adds, by one step of Newton's
            method; NaN for clusters without a row.
        n, groups: [judges] rows and clusters used.
        correction: [judges] factor of the covariance, G / (G - 1) * (n - 1) / (n - columns).
        converged: [judges].
    """

    coefficients: Floats
    error: Floats
    added: Floats
    left: Floats
    n: NDArray[np.int64]
    groups: NDArray[np.int64]
    correction: Floats
    converged: Mask

    def ends(self, column: int, level: float = 0.95) -> Ends:
        """Of one coefficient, [judges] each: ``jackknife_ends``."""
        return jackknife_ends(
            self.coefficients[:, column], self.left[:, :, column], self.groups, level
        )


def clustered_logit(y: Floats, x: Floats, cluster: NDArray[np.intp]) -> Logit:
    """Maximum likelihood with the sandwich covariance of statsmodels' ``cov_type="cluster"``.

    Args:
        y: [judges, rows] 1, 0 or .5 (a tie counts half each way); NaN is left out.
        x: [judges or 1, rows, columns], with a column of ones.
        cluster: [rows] numbers from 0.
    """
    known = ~np.isnan(y)
    design = np.broadcast_to(x, (len(y), *x.shape[1:]))
    known = known & ~np.isnan(design).any(axis=2)
    wins, design = np.where(known, y, 0.0), np.where(known[..., None], design, 0.0)
    beta = np.zeros((len(y), x.shape[2]))
    moved = np.full(len(y), np.inf)
    bread = np.zeros((len(y), x.shape[2], x.shape[2]))
    for _ in range(STEPS):
        share = expit(np.einsum("jrk,jk->jr", design, beta))
        bread = _inverse(design, share * (1 - share))
        step = np.einsum("jkl,jrl,jr->jk", bread, design, wins - share * known, optimize=True)
        beta, moved = beta + step, np.abs(step).max(axis=1)
        if (~(moved >= STEP)).all():
            break
    converged = (moved < STEP) & np.isfinite(beta).all(axis=1)
    beta = np.where(converged[:, None], beta, np.nan)
    score = design * ((wins - expit(np.einsum("jrk,jk->jr", design, beta))) * known)[..., None]
    added = np.einsum(
        "jkl,jlg->jgk", bread, cluster_sums(score.transpose(0, 2, 1), cluster), optimize=True
    )
    there = cluster_sums(known, cluster) > 0
    n, groups = known.sum(axis=1), there.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = groups / (groups - 1) * (n - 1) / (n - x.shape[2])
    added = np.where(converged[:, None, None], added, np.nan)
    error = np.sqrt(correction[:, None] * (added**2).sum(axis=1))
    share = expit(np.einsum("jrk,jk->jr", design, beta))
    weighted = design * (share * (1 - share))[..., None]
    parts = cluster_sums(np.einsum("jrk,jrl->jklr", weighted, design), cluster)
    sums = cluster_sums(score.transpose(0, 2, 1), cluster)
    left = left_out(np.moveaxis(parts, -1, 1), np.moveaxis(sums, -1, 1), there)
    return Logit(beta, error, added, left, n, groups, np.asarray(correction), converged)


def _inverse(design: Floats, weight: Floats) -> Floats:
    """[judges, columns, columns] inverse information; NaN where it is singular."""
    made = np.einsum("jrk,jr,jrl->jkl", design, weight, design, optimize=True)
    bad = ~np.isfinite(made).all(axis=(1, 2))
    made[bad] = np.eye(made.shape[1])
    bad |= np.linalg.cond(made) > 1e12
    made[bad] = np.eye(made.shape[1])
    found = np.linalg.inv(made)
    found[bad] = np.nan
    return np.asarray(found)
