"""Two critics for "do these texts share a source?": a chat LM, or any log-probability LM."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.exchange import Exchange, no_label
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import filled, measured, with_calls
from judgelab.mechanism.closed import ClosedMechanism, with_shares
from judgelab.mechanism.mi import pointwise_mi

if TYPE_CHECKING:
    import xarray as xr

GRADES = {"significant gain": 1.0, "little gain": 0.25, "no gain": 0.0}
"""Label -> graded test value in [0, 1] (as released)."""

LABELS = {f"[[{label.title()}]]": label for label in GRADES}
"""Allowed reply -> label."""

LITTLE, SIGNIFICANT = 0.95, 0.99
"""Quantiles of independent pairs above which there is some gain, and much."""

Cell = tuple[int, int, int, int]  # item, agent, peer, 0 for the same item or 1 + draw


def measure_chat(
    critic: ClosedMechanism, panel: Panel, lm: EvaluationLM, partner: NDArray[np.int64]
) -> xr.Dataset:
    """Ask a chat LM for one of three labels, on pairs of one item and of two items.

    Replies are drawn at temperature 0 as the authors' code does it (the paper prints 0.7).

    Args:
        critic: how the questions are put; prompts have the fields task, a, b.
        partner: [items, draws] indices of the independent items.

    Returns:
        ``p`` [item, agent, peer] and ``q`` [..., draw]: graded labels, NaN where unread. By
        labels, ``p_probability`` and ``q_probability`` [..., label] too.
    """
    requests = {}
    for cell, a, b in _pairs(panel, partner):
        key = ("tvd_mi", panel.items[cell[0]].id, *(panel.agents[i].name for i in cell[1:3]))
        values = {"task": panel.task_description, "a": a, "b": b}
        requests[cell] = critic.request(lm, key, values)
    said = Exchange.put(lm, requests)
    read = said.read(
        lambda _, reply: stated_label(reply.text, GRADES), lambda _, text: no_label(text, LABELS)
    )
    n, m, draws = len(panel.items), len(panel.agents), partner.shape[1]
    grades = filled((n, m, m, 1 + draws), read)
    pair = ("item", "agent", "peer")
    data = measured(panel, p=(pair, grades[..., 0]), q=((*pair, "draw"), grades[..., 1:]))
    data = with_calls(data, list(read), read.values(), said.answered)
    same = {cell[:3]: reply for cell, reply in said.replies.items() if cell[3] == 0}
    other = {(*cell[:3], cell[3] - 1): r for cell, r in said.replies.items() if cell[3] > 0}
    data = with_shares(data, pair, same, LABELS, prefix="p_")
    data = with_shares(data, (*pair, "draw"), other, LABELS, prefix="q_")
    return data.assign_attrs(critic.attrs(lm))


def _pairs(panel: Panel, partner: NDArray[np.int64]) -> Iterator[tuple[Cell, str, str]]:
    agents = range(len(panel.agents))
    for k, drawn in enumerate(partner.tolist()):
        for (s, source), i, j in product(enumerate([k, *drawn]), agents, agents):
            a, b = panel.texts[k][i], panel.texts[source][j]
            if i != j and a is not None and b is not None:
                yield (k, i, j, s), a, b


def likelihood_grades(
    data: xr.Dataset,
    fold: NDArray[np.int64],
    little: float = LITTLE,
    significant: float = SIGNIFICANT,
) -> tuple[xr.DataArray, xr.DataArray]:
    """Turn pointwise MI into the three grades, with thresholds learnt on *other* items.

    The statistic is the pointwise MI of the whole text in nats, the log-likelihood ratio of P+ to
    P- under the LM. The thresholds for the items of a fold are its ``little`` and ``significant``
    quantiles between independent sources in the other folds: a 5 % and a 1 % level.
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
