"""Scores of systems on items, measured or read, and the judge whose rankings are in question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.estimator import Estimator, read_estimators
from judgelab.core.panel import Panel
from judgelab.core.result import Value
from judgelab.engine.context import Context, estimators
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.pairs import OrderedPairs, ordered_pairs
from judgelab.stats.ranking.system_bias import JudgeFit, Model, fit_judge
from judgelab.store.run_dir import RunDir
from judgelab.study.common.panels import SCORES, human_scores, score_panels

CAREFUL: tuple[Model, ...] = ("bias", "line", "algorithm_1")  # the default, and less careful ones
SURELY = 0.9  # share of resamples in which another must be better to replace it


@dataclass(frozen=True)
class SystemScores:
    """What there is to rank."""

    systems: tuple[str, ...]  # names, in order
    metric: Floats  # [items, systems], NaN where unscored
    human: Floats  # [items, systems], NaN without a human score
    about: Mapping[str, Value]  # what made the scores, for the summary: mechanism, dataset, ...
    # of the panel and the measurements, or of the run that is read
    provenance: Mapping[str, object]
    estimators: tuple[Estimator, ...] = ()  # what the scores are estimates by

    @property
    def annotated(self) -> bool:
        """Whether people scored texts that the metric scored too."""
        return bool((~np.isnan(self.human) & ~np.isnan(self.metric)).any())

    @property
    def systems_with_scores(self) -> int:
        """Systems that have a score."""
        return int((~np.isnan(self.metric)).any(axis=0).sum())


def clean_panel(context: Context) -> Panel:
    """What is to be scored; ConfigError under an attack: systems are ranked by own texts."""
    context.no_attack("ranking_confidence")
    return context.panels()["clean"]


def measure(context: Context, name: str = "clean") -> SystemScores:
    """Measure the context's panel and keep the records under ``name``, as every study does."""
    panels = {name: clean_panel(context)}
    clean = score_panels(context, panels, "corrected")[name]
    columns = clean.candidates
    about: dict[str, Value] = {
        "mechanism": context.mechanism.name,
        "metric": str(clean.measurements.attrs.get("metric") or context.mechanism.name),
        "dataset": str(clean.panel.provenance.get("dataset", "")),
    }
    if any(context.mechanism.requires):
        about["evaluation_lm"] = context.evaluation_lm.identity
    return SystemScores(
        tuple(clean.panel.agents[k].name for k in columns),
        clean.values[:, columns],
        np.ascontiguousarray(human_scores(clean.panel)[:, columns]),  # sums run in this order
        about,
        {"clean": clean.origin},
        estimators(clean.scores),
    )


def read_run(folder: str, limit: int | None = None, *, key: str = "run") -> SystemScores:
    """The clean scores of a finished run that study.``key`` names; its first ``limit`` items.
    DataError: the folder is no finished run, or holds no scores of single texts."""
    run = RunDir(Path(folder).expanduser())
    file, where = run.path / SCORES, f"study.{key}={folder!r}"
    if not run.is_done:
        raise DataError(f"{where} is no finished run: give a folder with DONE in it.")
    if not file.is_file():
        raise DataError(f"{where} has no {SCORES}: its study scores no single texts.")
    try:
        table, result = pd.read_parquet(file), run.read_json("result.json")
        summary = result["summary"]
        table = table[~table["reference"].astype(bool)]
        systems = tuple(dict.fromkeys(table["agent"]))
        items = list(dict.fromkeys(table["item"]))[:limit]
        metric, human = (
            table.pivot(index="item", columns="agent", values=name)
            .reindex(index=items, columns=list(systems))
            .to_numpy(dtype=np.float64)
            for name in ("score", "human")
        )
    except (OSError, ValueError, TypeError, JudgelabError, KeyError) as cause:
        raise DataError(f"{where} cannot be read: {cause}.") from cause
    keys = ("mechanism", "metric", "dataset", "evaluation_lm", "preprocessor")
    about = {key: summary[key] for key in keys if key in summary}
    provenance = {"run": run.path.name, "summary": summary}
    by = tuple(read_estimators(result))
    return SystemScores(systems, metric, human, about, provenance, by)


@dataclass(frozen=True)
class RankingJudge:
    """A judge as annotated data show it; NaN is unknown, as all is where nothing is annotated."""

    r: Estimate  # correlation with people, and its interval over items
    fit: JudgeFit  # on all systems
    scores: Floats  # of people, [texts]
    # whether other data show it: then it predicts every pair, else each is predicted from the other
    # systems here
    elsewhere: bool = False

    @classmethod
    def of(cls, data: SystemScores, draws: int = 2000, seed: int = 0) -> RankingJudge:
        """Fit it; everything is NaN where people's or the metric's scores do not vary."""
        fit = fit_judge(data.human, data.metric)
        r = Estimate(np.nan)
        if not np.isnan(fit.r):
            r = clustered_correlation(data.metric, data.human, "pearson", draws, seed)
        return cls(r, fit, data.human[~np.isnan(data.human)])

    @property
    def sd(self) -> float:
        """Of the human scores."""
        return float(self.scores.std()) if self.scores.size else np.nan

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0

    def falls_by(self, model: Model | None) -> bool:
        """Whether the metric's system means fall as people's rise, by the model."""
        return model is not None and self.fit.system_error(model)[0] < 0


def people_order(
    scores: SystemScores, judge: RankingJudge, resamples: Mapping[Model, Floats]
) -> tuple[OrderedPairs, Model | None]:
    """Confidence in the metric's order, and in people's, with the model by which it is computed.

    That is the first of ``CAREFUL``, unless another has a smaller calibration error on the pairs
    that were predicted in ``SURELY`` of its ``resamples`` [draws], which one seed pairs. (The
    smallest error by itself changes hands on noise.) None where the judge does not correlate with
    people, or nothing is known of its bias: then people's order is as sure as the metric's. Where
    the means of systems fall as people's rise (the line's slope), people's order is the opposite.
    """
    fit = judge.fit
    usable = [m for m in CAREFUL if fit.slope > 0 and not np.isnan(fit.system_error(m)[1])]
    by_model = {m: resamples[m] for m in usable if not np.isnan(resamples.get(m, np.nan)).all()}
    model = next(iter(by_model or [m for m in usable if m == "bias"]), None)
    for other, errors in by_model.items():
        rivals = {*list(by_model)[:1], model or other}  # the default, and what replaced it
        if all((errors < by_model[one]).mean() >= SURELY for one in rivals):
            model = other
    pairs = ordered_pairs(scores.metric, fit.system_error(model)[1] * fit.slope if model else 0.0)
    if judge.falls_by(model):
        pairs = replace(pairs, agreed=1 - pairs.agreed)
    return pairs, model
