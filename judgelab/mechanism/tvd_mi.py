"""TVD-MI: total variation mutual information through a categorical critic (section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.scores import Scores, both_directions, mean_over, symmetric, without_noise
from judgelab.mechanism.closed import TwoPromptMechanism
from judgelab.mechanism.critic import LABELS, likelihood_grades, measure_chat
from judgelab.mechanism.logprob import measure_logprob
from judgelab.mechanism.protocol import BY_LOGPROB, Definition

if TYPE_CHECKING:
    import xarray as xr

CriticName = Literal["auto", "chat", "likelihood"]
Estimator = Literal["graded", "binary"]
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

    Args:
        critic: ``chat`` (three labels), ``likelihood`` (any log-probability LM), or ``auto``:
            chat where the LM can, else likelihood; the result says which.
        estimator: graded or binary.
        negatives: independent sources drawn for each item (Q pairs per P pair).
        prompt: of the chat critic; fields task, a, b.
    """

    max_tokens: Count = 150
    critic: CriticName = "auto"
    estimator: Estimator = "graded"
    negatives: Count = 1
    labels = LABELS
    name = "tvd_mi"
    subject = "pair"

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """What the chosen critic needs; either will do for ``auto``."""
        chat = super().requires
        return {"auto": chat + BY_LOGPROB, "chat": chat, "likelihood": BY_LOGPROB}[self.critic]

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Same-source and independent pairs; ``critic`` names who judged them.

        Raises:
            ConfigError: too few items for the folds and negatives asked.
        """
        ids = [item.id for item in panel.items]
        able = super().requires[0] <= lm.capabilities
        chat = self.critic == "chat" or (self.critic == "auto" and able)
        fold = folds(ids, 1 if chat else FOLDS, seed)
        partner = partners(ids, fold, self.negatives, seed)
        if chat:
            data = measure_chat(self, panel, lm, partner)
        else:
            data = measure_logprob(panel, lm, partner)
        data["fold"] = ("item", fold)
        data["partner"] = (("item", "draw"), np.array(ids)[partner])
        data.attrs["critic"] = "chat" if chat else "likelihood"
        data.attrs["drawn"] = (
            f"for each item {self.negatives} other, whose texts its own are held against, by the "
            "seed and the items' ids"
        )
        return data

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """P - Q per ordered pair, symmetrised.

        An agent's score has a mean of its own for P and Q in either direction, so that a call
        without a grade costs itself alone; a pair's score takes all its four grades.
        """
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
