"""Predicted confidence against how often pairs of systems are ranked right (figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.bootstrap import percentile_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.calibration import (
    MODELS,
    Model,
    Outcomes,
    Predictions,
    calibration_bins,
    calibration_error,
    pair_means,
    predict_pairs,
)
from judgelab.stats.ranking.pairs import RankedPairs, ranked_pairs
from judgelab.stats.ranking.system_bias import JudgeFit
from judgelab.study.common.tables import columns, estimate_rows
from judgelab.study.common.templates import table
from judgelab.study.ranking.scored import Scored

LEAST = 4  # systems: two are predicted from the others
OTHERS = "from the other systems"
ELSEWHERE = "by the judge as it is elsewhere"
BUCKETS = 6
NAMES: Mapping[Model, str] = {
    "algorithm_1": "Algorithm 1",
    "bias": "plus bias between systems",
    "line": "plus bias and slope of means",
}


@dataclass(frozen=True)
class Empirical:
    """What happened, and what was predicted without looking at the pair.

    Attributes:
        by: what predicts a pair, in words.
    """

    scored: Scored
    pairs: RankedPairs
    predicted: Predictions
    items: int
    draws: int
    seed: int
    by: str = OTHERS

    @property
    def models(self) -> tuple[Model, ...]:
        """Those that predict any pair."""
        made = self.predicted.unpaired
        return tuple(m for m in MODELS if m == MODELS[0] or not np.isnan(made[m]).all())

    def agreement(self) -> dict[str, Estimate]:
        """Mean share of resamples ranked right, over pairs, with an interval over systems.

        Both systems on items of their own (``agreement``), or on the same (``agreement_paired``).
        """
        group = np.zeros(len(self.pairs.delta), dtype=np.int64)
        shares = {"agreement": self.pairs.unpaired, "agreement_paired": self.pairs.paired}
        return {name: self._means(seen, group)[0] for name, seen in shares.items()}

    def errors(self) -> dict[Model, Estimate]:
        """Calibration error of the unpaired predictions."""
        return {
            model: calibration_error(self._outcomes(model), self.draws, self.seed)[0]
            for model in self.models
        }

    def lean(self, model: Model) -> float:
        """By how much a model predicts more than is observed, mean over unpaired pairs."""
        data = self._outcomes(model)
        return _mean(data.predicted - data.observed)

    def tables(self) -> list[Table]:
        """Calibration and its error, the buckets of figure 5, and every pair."""
        return [self._errors(), self._buckets(), self._calibration(), self._pairs()]

    @property
    def _kinds(self) -> dict[str, tuple[Floats, Mapping[Model, Floats]]]:
        """Whether two systems answer the same items -> observed and predicted, [pairs] each."""
        return {
            "unpaired": (self.pairs.unpaired, self.predicted.unpaired),
            "paired": (self.pairs.paired, self.predicted.paired),
        }

    def _means(self, values: Floats, group: NDArray[np.int64]) -> dict[int, Estimate]:
        return pair_means(values, group, self.pairs.first, self.pairs.second)

    def _outcomes(self, model: Model, kind: str = "unpaired") -> Outcomes:
        seen, made = self._kinds[kind]
        return Outcomes(made[model], seen, self.pairs.first, self.pairs.second)

    def _errors(self) -> Table:
        rows: list[Row] = []
        for kind, items in (("unpaired", "each its own"), ("paired", "the same")):
            plain = self._outcomes("algorithm_1", kind)
            for model in self.models:
                data = self._outcomes(model, kind)
                error, samples = calibration_error(data, self.draws, self.seed)
                known = ~np.isnan(data.predicted)
                row: dict[str, Value] = {"items": items, "model": NAMES[model]}
                row["predicted"] = _mean(data.predicted)
                row["observed"] = _mean(data.observed[known])
                row |= columns(error)
                if model != "algorithm_1":
                    both = replace(plain, predicted=np.where(known, plain.predicted, np.nan))
                    _, base = calibration_error(both, self.draws, self.seed)
                    row["change_low"], row["change_high"] = percentile_interval(samples - base)
                rows.append(row)
        return table(__package__, "calibration_error", rows, by=self.by)

    def _calibration(self) -> Table:
        cells: list[tuple[Row, Estimate]] = [
            ({"model": NAMES[model], "from": low, "to": high, "predicted": predicted}, observed)
            for model in self.models
            for low, high, predicted, observed in calibration_bins(self._outcomes(model))
        ]
        return table(__package__, "calibration", estimate_rows(cells))

    def _buckets(self) -> Table:
        """Pairs by the size of their difference, as the paper averages them."""
        delta = self.pairs.delta
        edges = np.linspace(0, float(delta.max(initial=0.0)), BUCKETS + 1)
        group = np.clip(np.searchsorted(edges, delta, side="left") - 1, 0, BUCKETS - 1)
        cells: list[tuple[Row, Estimate]] = []
        for kind, (seen, made) in self._kinds.items():
            for k, observed in self._means(seen, group).items():
                head: dict[str, Value] = {"items": kind, "delta": _mean(delta[group == k])}
                head |= {model: _mean(made[model][group == k]) for model in MODELS}
                cells.append((head, observed))
        rows = estimate_rows(cells)
        return table(__package__, "observed", rows, buckets=BUCKETS, items=self.items)

    def _pairs(self) -> Table:
        names, pairs, made = self.scored.systems, self.pairs, self.predicted.unpaired
        rows: list[Row] = [
            {
                "better": names[pairs.first[k]],
                "worse": names[pairs.second[k]],
                "delta": float(pairs.delta[k]),
                "ranked_right": float(pairs.observed[k]),
                "unpaired": float(pairs.unpaired[k]),
                "paired": float(pairs.paired[k]),
                "r_that_predicts": self.predicted.fits[k].r,
                **{model: float(made[model][k]) for model in MODELS},
            }
            for k in np.argsort(-pairs.delta, kind="stable")
        ]
        return table(__package__, "human_pairs", rows, by=self.by)


def _mean(values: Floats) -> float:
    """Of what is known; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def empirical(
    scored: Scored, items: int, draws: int, seed: int, judge: JudgeFit | None = None
) -> Empirical | None:
    """None without people's scores of enough systems.

    Args:
        judge: fitted elsewhere; None: each pair is predicted from the other systems, of which
            there must be two.
    """
    both = ~np.isnan(scored.human) & ~np.isnan(scored.metric)
    if int(both.any(axis=0).sum()) < (LEAST if judge is None else 2):
        return None
    pairs = ranked_pairs(scored.human, scored.metric, items, draws, seed)
    if not len(pairs.delta):
        return None
    predicted = predict_pairs(scored.human, scored.metric, pairs, items, judge=judge)
    by = OTHERS if judge is None else ELSEWHERE
    return Empirical(scored, pairs, predicted, items, draws, seed, by)
