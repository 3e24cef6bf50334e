"""Two critics for "do these texts share a source?": a chat LM, or any log-probability LM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.exchange import Exchange, no_label
from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import measured, with_calls
from judgelab.mechanism.closed import Closed, with_shares
from judgelab.mechanism.mi import pointwise_mi

if TYPE_CHECKING:
    import xarray as xr

GRADES = {"significant gain": 1.0, "little gain": 0.25, "no gain": 0.0}
"""Label -> graded test value in [0, 1] (as released)."""

LABELS = {f"[[{label.title()}]]": label for label in GRADES}
"""Allowed reply -> label."""

Cell = tuple[int, int, int, int]  # item, agent, peer, 0 for the same item or 1 + draw


def measure_chat(
    closed: Closed, panel: Panel, lm: EvaluationLM, partner: NDArray[np.int64]
) -> xr.Dataset:
    """Ask a chat LM for one of three labels, on pairs of one item and of two items.

    Replies are drawn at temperature 0 as the authors' code does it (the paper prints 0.7).

    Args:
        closed: how the questions are put; prompts have the fields task, a, b.
        partner: [items, draws] indices of the independent items.

    Returns:
        ``p`` [item, agent, peer] and ``q`` [..., draw]: graded labels, NaN where unread. By
        labels, ``p_probability`` and ``q_probability`` [..., label] too.
    """
    n, m, draws = len(panel.items), len(panel.agents), partner.shape[1]
    batches: list[dict[Cell, ChatRequest]] = []
    for k in range(n):  # one batch an item: what was answered survives an interruption
        batches.append({})
        for cell, a, b in _pairs(panel, partner, k):
            key = ("tvd_mi", panel.items[k].id, *(panel.agents[i].name for i in cell[1:3]))
            batches[k][cell] = closed.request(
                lm, key, {"task": panel.task_description, "a": a, "b": b}
            )
    said, why = Exchange.put(lm, *batches), no_label(LABELS)
    grades = np.full((n, m, m, 1 + draws), np.nan)
    read = said.read(lambda _, reply: stated_label(reply.text, GRADES), lambda _: why)
    for cell, value in read.items():
        grades[cell] = value
    data = measured(
        panel,
        p=(("item", "agent", "peer"), grades[..., 0]),
        q=(("item", "agent", "peer", "draw"), grades[..., 1:]),
    )
    data = with_calls(data, list(read), read.values(), said.answered)
    return _with_both_shares(data, said.replies).assign_attrs(closed.attrs(lm))


def _with_both_shares(data: xr.Dataset, replies: Mapping[Cell, Reply]) -> xr.Dataset:
    """Probabilities of the labels, of same-source and of independent pairs."""
    dims = ("item", "agent", "peer")
    same = {cell[:3]: reply for cell, reply in replies.items() if cell[3] == 0}
    other = {(*cell[:3], cell[3] - 1): reply for cell, reply in replies.items() if cell[3] > 0}
    data = with_shares(data, dims, same, LABELS, prefix="p_")
    spread = (*dims, "draw")
    return with_shares(data, spread, other, LABELS, prefix="q_")


def _pairs(panel: Panel, partner: NDArray[np.int64], k: int) -> Iterator[tuple[Cell, str, str]]:
    agents = range(len(panel.agents))
    for source, (i, j) in product(range(1 + partner.shape[1]), product(agents, agents)):
        other = k if source == 0 else int(partner[k, source - 1])
        a, b = panel.texts[k][i], panel.texts[other][j]
        if i != j and a is not None and b is not None:
            yield (k, i, j, source), a, b


def likelihood_grades(
    data: xr.Dataset, fold: NDArray[np.int64], little: float, significant: float
) -> tuple[xr.DataArray, xr.DataArray]:
    """Turn pointwise MI into the three grades, with thresholds learnt on *other* items.

    The statistic is the pointwise MI of the whole text in nats, the log-likelihood ratio of P+ to
    P- under the LM. The thresholds for the items of a fold are its ``little`` and ``significant``
    quantiles between independent sources in the other folds: a 5 % and a 1 % level by default.
    They do not depend on what they are applied to, so TPR + TNR - 1 stays a lower bound of the
    total variation distance in expectation (TVD-MI paper, equation 3), whatever the LM.

    Returns:
        ``p`` [item, agent, peer] and ``q`` [item, agent, peer, draw], NaN where unscored.
    """
    same = pointwise_mi(data, "sum")
    independent = data["negative"] - data["marginal"]
    independent = independent.transpose("item", "agent", "peer", "draw")
    p, q = same.copy(deep=True), independent.copy(deep=True)
    for f in np.unique(fold):
        null = independent.values[fold != f]
        known = null[~np.isnan(null)]
        low, high = np.quantile(known, [little, significant]) if known.size else (np.nan, np.nan)
        for grades, values in ((p, same.values), (q, independent.values)):
            grades.values[fold == f] = _grade(values[fold == f], low, high)
    return p, q


def _grade(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    none, some, much = (GRADES[k] for k in ("no gain", "little gain", "significant gain"))
    graded = np.where(values > high, much, np.where(values > low, some, none))
    return np.where(np.isnan(values) | np.isnan(low), np.nan, graded)  # no threshold, no grade
