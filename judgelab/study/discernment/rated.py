"""One judge's ratings of originals and perturbed texts, and what they say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from judgelab.calls.counted import Counted
from judgelab.calls.log import CallLog, LoggedLM
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, mean_over
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.panels import (
    measurement_records,
    text_records,
    write_replies,
    write_sources,
)
from judgelab.study.discernment.perturbations import Degraded


@dataclass(frozen=True)
class RatedVariants:
    """What one judge was asked of all texts, and what it said.

    Attributes:
        context: in which it was asked.
        degraded: the texts as it read them.
        log: of the calls that asked it.
        metrics: names; a mechanism without metrics counts as one metric of its own name.
        ratings: [variant, item, metric] averaged over repeats, the originals' first; NaN: unrated.
    """

    context: Context
    degraded: Degraded
    measured: xr.Dataset
    scores: Scores
    log: CallLog
    metrics: Sequence[str]
    ratings: Floats

    @classmethod
    def asked(cls, context: Context, degraded: Degraded) -> RatedVariants:
        """Put every question to the judge of this context."""
        read = degraded.read_in(context)
        lm = LoggedLM(context.evaluation_lm, texts=True)
        measured = replace(context, evaluation_lm=lm).measure(read.panel)
        scores = context.score(measured)
        of = _ratings(measured, scores, context.mechanism.name)
        return cls(context, read, measured, scores, lm.log, *of)


def write_ratings(context: Context, panel: Panel, rated: Mapping[str, RatedVariants]) -> None:
    """Keep texts, measurements, ratings and replies of several judges in the run's folder.

    ``judgments`` has what each judge said of a text, averaged over metrics.
    """
    write = context.run_dir.write_table
    write("records/clean_texts.parquet", text_records(panel))
    write_sources(context, panel)
    measured = [
        measurement_records(one.measured).assign(judge=judge) for judge, one in rated.items()
    ]
    write("records/clean_measurements.parquet", pd.concat(measured, ignore_index=True))
    said = [_ratings_of(judge, panel, one) for judge, one in rated.items()]
    write("records/judgments.parquet", pd.concat(said, ignore_index=True))
    write_replies(context, panel, {judge: one.log for judge, one in rated.items()})


def _ratings_of(judge: str, panel: Panel, one: RatedVariants) -> pd.DataFrame:
    """One row for each text that is there."""
    means = one.ratings.mean(axis=2)
    rows = [
        {"item": item.id, "first": agent.name, "second": "", "value": float(means[v, i])}
        for i, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True))
        for v, (agent, text) in enumerate(zip(panel.agents, texts, strict=True))
        if text is not None
    ]
    names = ["item", "first", "second", "value"]
    return pd.DataFrame(rows, columns=names).assign(by=judge, role="judge", order=0)


def refuse_unfit(context: Context, base: Panel) -> None:
    """Find out before anything is asked or paid for that a mechanism does not fit.

    Raises:
        ConfigError: the mechanism holds texts against one another, is for other tasks, has
            settings that do not fit the panel, or scores texts only as they came.
    """
    mechanism, lm = context.mechanism, context.evaluation_lm
    if mechanism.subject != "text":
        raise ConfigError(
            "study=discernment has a judge score each text by itself, but mechanism="
            f"{mechanism.name} holds texts against one another: choose rating (an LM that chats), "
            "rating_likelihood (one that gives log-probabilities), or one of lm_examiner, "
            "pointwise5, acu_rating, gptscore, length."
        )
    mechanism.fits(base)
    if mechanism.measurement == "text":  # refuses attacked texts where its scores are recorded
        base = base.with_agents(base.agents, base.texts, attack="perturbations")
    mechanism.measure(base, Counted(lm), seed=context.seed)


def _ratings(data: xr.Dataset, scores: Scores, mechanism: str) -> tuple[list[str], Floats]:
    """Names of the metrics, and ratings [variant, item, metric] averaged over repeats.

    A mechanism without metrics counts as one metric of its own name.
    """
    if "rating" not in data:
        values = scores.agent.transpose("agent", "item").values[:, :, None]
        return [mechanism], np.asarray(values, dtype=np.float64)
    mean = mean_over(data["rating"], "draw").transpose("agent", "item", "metric")
    return [str(name) for name in data["metric"].values], np.asarray(mean.values, dtype=np.float64)
