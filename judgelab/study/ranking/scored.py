"""Scores of systems on items, measured or read, and the judge whose rankings are in question.

The judge is fitted on annotations, or as the user says it is. Where these data are annotated and
it comes from elsewhere, they test it: the paper's check on data it was not made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

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
from judgelab.stats.ranking.pairs import MODELS, Model, OrderedPairs, ordered_pairs
from judgelab.stats.ranking.system_bias import JudgeFit, bias_estimate, fit_judge
from judgelab.store.run_dir import RunDir
from judgelab.study.common.panels import SCORES, human_scores, score_panels

Origin = Literal["these data", "training data", "settings"]


@dataclass(frozen=True)
class Scored:
    """What there is to rank."""

    systems: tuple[str, ...]  # names, in order
    metric: Floats  # [items, systems], NaN where unscored
    human: Floats  # [items, systems], NaN without a human score
    about: Mapping[str, Value]  # what made the scores, for the summary: mechanism, dataset, ...
    notes: tuple[str, ...]  # sentences on where they come from
    provenance: Mapping[str, object]  # of the panel and the measurements
    estimators: tuple[Estimator, ...] = ()  # what the scores are estimates by

    @property
    def annotated(self) -> bool:
        """Whether people scored texts that the metric scored too."""
        return bool((~np.isnan(self.human) & ~np.isnan(self.metric)).any())

    @property
    def known(self) -> int:
        """Systems that have a score."""
        return int((~np.isnan(self.metric)).any(axis=0).sum())


def clean_panel(context: Context) -> Panel:
    """What is to be scored.

    Raises:
        ConfigError: there is an attack: systems are ranked by the texts that they wrote.
    """
    context.no_attack("ranking_confidence")
    return context.panels()["clean"]


def measure(context: Context, name: str = "clean") -> Scored:
    """Measure the context's panel and keep the records under ``name``, as every study does."""
    panels = {name: clean_panel(context)}
    clean = score_panels(context, panels, "corrected")[name]
    kept, origin = clean.candidates, clean.panel.provenance
    about: dict[str, Value] = {
        "mechanism": context.mechanism.name,
        "metric": str(clean.measured.attrs.get("metric") or context.mechanism.name),
        "dataset": str(origin.get("dataset", "")),
    }
    notes = [f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'})."]
    if origin.get("synthetic"):
        notes.append(f"Synthetic: {origin['synthetic']}. The figures show what a study looks like.")
    if any(context.mechanism.requires):
        about["evaluation_lm"] = context.evaluation_lm.identity
        notes.append(f"Evaluation LM: {context.evaluation_lm.identity}.")
    return Scored(
        tuple(clean.panel.agents[k].name for k in kept),
        clean.values[:, kept],
        np.ascontiguousarray(human_scores(clean.panel)[:, kept]),  # sums run in this order
        about,
        tuple(notes),
        {"clean": clean.origin},
        estimators(clean.scores),
    )


def read_run(folder: str, limit: int | None = None, *, key: str = "run") -> Scored:
    """The clean scores of a finished run of judgelab; its first ``limit`` items, None for all.

    Args:
        key: of the study, which named the folder.

    Raises:
        DataError: the folder is no finished run, or holds no scores of single texts.
    """
    run = RunDir(Path(folder).expanduser())
    file, where = run.path / SCORES, f"study.{key}={folder!r}"
    if not run.done:
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
    made = f"{summary.get('mechanism', 'unnamed')} on {summary.get('dataset', 'unnamed data')}"
    notes = (f"Scores are those of a finished run ({made}): {run.path.name}.",)
    provenance = {"run": run.path.name, "summary": summary}
    by = tuple(read_estimators(result))
    return Scored(systems, metric, human, about, notes, provenance, by)


@dataclass(frozen=True)
class RankingJudge:
    """What the study works with; NaN is unknown."""

    r: Estimate  # correlation with people, and its interval over items
    sd: float  # of human scores
    slope: float  # metric units per human unit
    bias: Estimate  # sd of the errors per system, human units, and its interval over systems
    item_correlation: float  # of two systems' scores on an item
    origin: Origin = "settings"  # where it comes from
    scores: Floats | None = None  # the human scores behind it, None where ``sd`` is given
    # on all systems of the data it comes from; None where it is given and nothing here tests it
    fit: JudgeFit | None = None

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0

    @property
    def elsewhere(self) -> JudgeFit | None:
        """What predicts every pair; None where each is predicted from the other systems here."""
        return None if self.origin == "these data" else self.fit

    def bias_by(self, model: Model) -> float:
        """The model's sd between systems, in metric units; NaN where it is unknown."""
        of_line = np.nan if self.fit is None else self.fit.line_bias_sd
        sd = {"algorithm_1": 0.0, "bias": self.bias.value, "line": of_line}[model]
        return float(sd * self.slope)

    def falls_by(self, model: Model | None) -> bool:
        """Whether the metric's system means fall as people's rise, by the model."""
        return model == "line" and self.fit is not None and self.fit.system_slope < 0


def fitted_judge(
    data: Scored, system_bias_sd: float | None, origin: Origin, draws: int, seed: int
) -> RankingJudge | None:
    """The judge of annotated data; None where human or metric scores are missing or all alike.

    Args:
        system_bias_sd: in place of the estimate.
    """
    fit = fit_judge(data.human, data.metric)
    if not data.annotated or np.isnan(fit.r):
        return None
    human = data.human[~np.isnan(data.human)]
    return RankingJudge(
        clustered_correlation(data.metric, data.human, "pearson", draws, seed),
        float(human.std()),
        fit.slope,
        bias_estimate(data.human, data.metric)
        if system_bias_sd is None
        else Estimate(system_bias_sd),
        fit.item_correlation,
        origin,
        human,
        fit,
    )


def given_judge(
    scored: Scored, r: float | None, sd: float | None, system_bias_sd: float | None
) -> RankingJudge:
    """By settings; where people scored these data, with their sd unless another is given."""
    annotated = not np.isnan(fit_judge(scored.human, scored.metric).r)
    human = scored.human[~np.isnan(scored.human)] if annotated else None
    r = np.nan if r is None else r
    spread = sd or (1.0 if human is None else float(human.std()))
    bias = Estimate(np.nan if system_bias_sd is None else system_bias_sd)
    metric = scored.metric[~np.isnan(scored.metric)]
    slope = r * (float(metric.std()) if metric.size else np.nan) / spread
    shared = fit_judge(scored.metric, scored.metric).item_correlation
    fit = None
    if human is not None:
        fit = JudgeFit(r, spread, slope, bias.value, np.nan, np.nan, shared, 0, 0)
    known = human if sd is None else None
    return RankingJudge(Estimate(r), spread, slope, bias, shared, "settings", known, fit)


def model_of_people(
    judge: RankingJudge, errors: Mapping[Model, Estimate], given: bool
) -> Model | None:
    """The model by which the confidence in people's order is computed.

    Where pairs were predicted, the one with the smallest error on them (the simpler one of two
    that are equal); without such pairs, or where ``given``, that of the bias between systems.

    Args:
        errors: model -> its calibration error; empty where no pair could be predicted.
        given: whether the user gave the bias.

    Returns:
        None where the judge does not correlate with people, or nothing is known of its bias.
    """
    usable = [m for m in MODELS if judge.slope > 0 and not np.isnan(judge.bias_by(m))]
    tested = {m: e.value for m, e in errors.items() if m in usable and e.n}
    if tested and not given:
        return min(tested, key=lambda model: tested[model])
    return "bias" if "bias" in usable else None


def order(scored: Scored, judge: RankingJudge, model: Model | None) -> OrderedPairs:
    """Confidence in the metric's order; in people's by that model, where one can say it.

    Where the means of systems fall as people's rise (the line's slope), people's order is the
    opposite one.
    """
    pairs = ordered_pairs(scored.metric, 0.0 if model is None else judge.bias_by(model))
    return replace(pairs, agreed=1 - pairs.agreed) if judge.falls_by(model) else pairs
