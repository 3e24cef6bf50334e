"""TVD-MI: total variation mutual information through a categorical critic (section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Exchange
from judgelab.core.panel import Panel, folds, rng_for
from judgelab.core.scores import (
    PAIR,
    Scores,
    array_of,
    both_directions,
    mean_over,
    measured,
    symmetric,
    without_noise,
)
from judgelab.mechanism.closed import TwoPromptMechanism
from judgelab.mechanism.logprob import measure_logprob
from judgelab.mechanism.mi import pointwise_mi
from judgelab.mechanism.protocol import BY_LOGPROB, Definition

if TYPE_CHECKING:
    import xarray as xr

GRADES = {"significant gain": 1.0, "little gain": 0.25, "no gain": 0.0}
"""Label -> graded test value in [0, 1] (as released)."""

LABELS = {f"[[{label.title()}]]": label for label in GRADES}  # allowed reply -> label

LITTLE, SIGNIFICANT = 0.95, 0.99
"""Quantiles of independent pairs above which there is some gain, and much."""

FOLDS = 2
"""Parts of the items: the likelihood critic's thresholds for one part come from the others, and Q
partners from the same part."""
ACCEPT = 1.0  # the binary test accepts a pair only on the label "significant gain"


@dataclass(frozen=True)
class TvdMi(TwoPromptMechanism):
    """E_P[g] - E_Q[g] for a test g in [0, 1]: a lower bound of TV(P+, P-) (equation 3).

    P pairs two agents' texts of one item; Q pairs a text with the other agent's text of another
    item. Both are scored and stored apart. ``graded`` uses the labels' values 1, .25 and 0 (as
    released); ``binary`` accepts on the strongest label alone, so that the difference is
    TPR + TNR - 1. Payment of agent i: the mean over peers of both directions.

    The ``critic`` is ``chat`` (three labels; the prompt's fields are task, a and b), ``likelihood``
    (any log-probability LM), or ``auto``: chat where the LM can, else likelihood; the result says
    which.
    """

    max_tokens: Count = 150
    critic: Literal["auto", "chat", "likelihood"] = "auto"
    estimator: Literal["graded", "binary"] = "graded"
    negatives: Count = 1  # independent sources drawn for each item (Q pairs per P pair)
    labels = LABELS
    name = "tvd_mi"
    subject = "pair"

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """What the chosen critic needs; either will do for ``auto``."""
        chat = super().requires
        return {"auto": chat + BY_LOGPROB, "chat": chat, "likelihood": BY_LOGPROB}[self.critic]

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Same-source and independent pairs; ``critic`` names who judged them. A ConfigError where
        there are too few items for the folds and negatives asked."""
        ids = [item.id for item in panel.items]
        chat = self._asks_chat(lm)
        fold = folds(ids, 1 if chat else FOLDS, seed)
        partner = partners(ids, fold, self.negatives, seed)
        ask = self._by_chat if chat else measure_logprob
        data = ask(panel, lm, partner)
        data["fold"] = ("item", fold)
        data["partner"] = (("item", "draw"), np.array(ids)[partner])
        data.attrs["critic"] = "chat" if chat else "likelihood"
        data.attrs["drawn"] = (
            f"for each item {self.negatives} other, with whose texts its own are compared, by the "
            "seed and the items' ids"
        )
        return data

    def measure_pairs(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.DataArray:
        """The critic's grade of each ordered pair; of the likelihood critic what it grades by."""
        if self._asks_chat(lm):
            data = self._by_chat(panel, lm, np.empty((len(panel.items), 0), np.int64))
            return data["p"].assign_attrs(data.attrs, critic="chat")
        data = measure_logprob(panel, lm)
        return pointwise_mi(data, "sum").assign_attrs(data.attrs, critic="likelihood")

    def _asks_chat(self, lm: EvaluationLM) -> bool:
        able = super().requires[0] <= lm.capabilities
        return self.critic == "chat" or (self.critic == "auto" and able)

    def _by_chat(self, panel: Panel, lm: EvaluationLM, partner: NDArray[np.int64]) -> xr.Dataset:
        """Graded labels, NaN where unread: ``p`` [item, agent, peer] and ``q`` [..., draw]; at
        temperature 0 as in the authors' code (the paper prints 0.7)."""
        # item, agent, peer, 0 for the same item or 1 + draw
        requests = dict[tuple[int, int, int, int], ChatRequest]()
        names, task = [agent.name for agent in panel.agents], panel.task_description
        for k, others in enumerate(partner.tolist()):
            for (s, source), (i, j) in product(
                enumerate([k, *others]), permutations(range(len(names)), 2)
            ):
                a, b = panel.texts[k][i], panel.texts[source][j]
                if a is not None and b is not None:
                    key = (self.name, panel.items[k].id, names[i], names[j])
                    requests[k, i, j, s] = self.request(lm, key, {"task": task, "a": a, "b": b})
        values = self.read_labels(Exchange.ask(lm, requests), GRADES)
        grades = array_of((len(panel.items), len(names), len(names), 1 + partner.shape[1]), values)
        data = measured(panel, p=(PAIR, grades[..., 0]), q=((*PAIR, "draw"), grades[..., 1:]))
        return data.assign_attrs(self.attrs(lm))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """P - Q per ordered pair, symmetrised. An agent's score has a mean of its own for P and Q
        in either direction, so that a call without a grade costs itself alone; a pair's score takes
        all its four grades."""
        p, q = self.tests(measured)
        other = mean_over(q, "draw")
        difference = p - other
        agent = both_directions(p) - both_directions(other)
        diagnostics = {
            "accepted_same_source": float(mean_over(p, "peer").mean()),
            "accepted_independent": float(mean_over(other, "peer").mean()),
        }
        agent, pair = without_noise(agent), without_noise(symmetric(difference))
        return Scores(agent=agent, pair=pair, diagnostics=diagnostics)

    def tests(self, data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
        """What the test g says of same-source and of independent pairs: p, and q [..., draw]."""
        if "p" in data:
            p, q = data["p"], data["q"]
        else:
            p, q = likelihood_grades(data, data["fold"].values)
        if self.estimator == "graded":
            return p, q
        return tuple((g >= ACCEPT).where(g.notnull()).astype(float) for g in (p, q))  # type: ignore[return-value]


def likelihood_grades(
    data: xr.Dataset,
    fold: NDArray[np.int64],
    little: float = LITTLE,
    significant: float = SIGNIFICANT,
) -> tuple[xr.DataArray, xr.DataArray]:
    """``p`` [item, agent, peer] and ``q`` [item, agent, peer, draw]: grades of the text's pointwise
    MI (nats), by quantiles of independent pairs of *other* folds; NaN where unscored."""
    import xarray as xr

    same = pointwise_mi(data, "sum")
    independent = data["negative"] - data["marginal"]
    independent = independent.transpose("item", "agent", "peer", "draw")
    bars = xr.DataArray(np.full((2, len(fold)), np.nan), dims=("bar", "item"))
    for f in np.unique(fold):
        null = independent.values[fold != f]
        values = null[~np.isnan(null)]
        if values.size:
            bars[:, fold == f] = np.quantile(values, [[little], [significant]])
    low, high = bars
    much, some, none = GRADES.values()

    def grades_of(gain: xr.DataArray) -> xr.DataArray:
        grades: xr.DataArray = none + (some - none) * (gain > low) + (much - some) * (gain > high)
        return grades.where(gain.notnull() & low.notnull())  # no threshold, no grade

    return grades_of(same), grades_of(independent)


def partners(
    item_ids: Sequence[str], fold: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """[items, count] indices of other items of the same fold, drawn without repetition; a
    ConfigError where a fold is too small."""
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
