"""Scores that came with the data: a metric, taken as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import TEXT, measured
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class RecordedScores(TextMechanism):
    """A metric of the dataset (dataset=table, rose, summeval_ratings, frank); nothing is asked."""

    metric: str | None = None  # its name; None where the data have just one
    name = "recorded_scores"
    measurement = "text"
    reads = "raw"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]; NaN where the data have no score. A ConfigError where they have
        no such metric, or none, or several and none is chosen; or where texts were attacked, which
        recorded scores know nothing of."""
        return self.measure_part(panel, panel, lm, seed=seed)

    def measure_part(self, part: Panel, whole: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """The same, of the metric that the whole panel has."""
        if part.provenance.get("attack") not in (None, "none"):
            raise ConfigError(
                "Recorded scores are of the texts as they came: use attack=none, or a mechanism "
                "that reads texts."
            )
        names = list(dict.fromkeys(name for item in whole.items for name in item.scores))
        if not names:
            raise ConfigError(
                "The data hold no recorded scores: choose a mechanism that measures, or data that "
                "come with scores (dataset=table dataset.judges=[COLUMN])."
            )
        name = names[0] if self.metric is None and len(names) == 1 else self.metric
        if name is None or name not in names:
            hint = did_you_mean(str(name), names)
            raise ConfigError(f"Set mechanism.metric to a metric of the data.{hint}")
        values = {
            (i, j): item.scores.get(name, {}).get(agent.name, np.nan)
            for i, item in enumerate(part.items)
            for j, agent in enumerate(part.agents)
        }
        return measured(part, value=(TEXT, values)).assign_attrs(metric=name)
