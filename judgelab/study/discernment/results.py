"""One judge's ratings of originals and perturbed texts, and what they say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from judgelab.calls.log import CallLog, LoggedLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, mean_over
from judgelab.engine.context import Context
from judgelab.stats.discernment.score import (
    How,
    Pair,
    PairedD,
    calibrate,
    calibrate_summary,
    discernment_ends,
    leave_one_out,
    level_balanced,
    paired_judges,
)
from judgelab.stats.intervals.arrays import Floats, check_array
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.panels import (
    measurement_records,
    text_records,
    write_records,
    write_replies,
    write_sources,
)
from judgelab.study.discernment.perturbations import Degraded, ExpertWeights, SuiteEntry

Counts = NDArray[np.int64]
NAN = float("nan")
# Level-balanced averages and minima over perturbations; ew: with the weights of the metrics.
# Name -> of which, and the column of D [..., 2]: without weights, with.
AVERAGES = {"average_ew": 1, "minimum_ew": 1, "average": 0, "minimum": 0}
MOST = 1000  # shuffled judges behind thresholds of averages and minima: each is tested on all
# Texts that averages and minima ask of a perturbation: with four, not even a fall of all has a p
# below .05. Where the data have fewer, all of them.
FEWEST = 5
TOO_FEW = "too few references"


@dataclass(frozen=True)
class RatedVariants:
    """What one judge was asked of all texts, and what it said."""

    context: Context  # in which it was asked
    degraded: Degraded  # the texts as it read them
    measurements: xr.Dataset
    scores: Scores
    log: CallLog  # of the calls that asked it
    metrics: Sequence[str]  # a mechanism without metrics counts as one metric of its own name
    # [variant, item, metric] averaged over repeats, the originals' first; NaN: unrated
    ratings: Floats

    @classmethod
    def ask(cls, context: Context, degraded: Degraded) -> RatedVariants:
        """Put every question to the judge of this context."""
        own = replace(degraded, panel=context.read(degraded.panel))
        lm = LoggedLM(context.evaluation_lm, texts=True)
        measurements = replace(context, evaluation_lm=lm).measure(own.panel)
        scores = context.score(measurements)
        if "rating" in measurements:
            metrics = [str(name) for name in measurements["metric"].values]
            values = mean_over(measurements["rating"], "draw").transpose("agent", "item", "metric")
        else:
            metrics = [context.mechanism.name]
            values = scores.agent.transpose("agent", "item").expand_dims("metric", axis=-1)
        ratings = np.asarray(values.values, dtype=np.float64)
        return cls(context, own, measurements, scores, lm.log, metrics, ratings)


def write_ratings(context: Context, panel: Panel, variants: Mapping[str, RatedVariants]) -> None:
    """Keep texts, measurements, ratings and replies in the run's folder.

    The one judge of a run has no name, and records as every study writes them; of several,
    ``judgments`` has what each said of a text, averaged over metrics.
    """
    if "" in variants:
        one = variants[""]
        write_records(context, one.degraded.panel, one.measurements, one.scores)
        write_replies(context, one.degraded.panel, {context.mechanism.name: one.log})
        return
    write = context.run_dir.write_table
    write("records/clean_texts.parquet", text_records(panel))
    write_sources(context, panel)
    tables = [measurement_records(one.measurements).assign(judge=n) for n, one in variants.items()]
    write("records/clean_measurements.parquet", pd.concat(tables, ignore_index=True))
    judgments = [
        {"item": item.id, "first": agent.name, "second": "", "value": float(means[v, i])}
        | {"by": judge, "role": "judge", "order": 0}
        for judge, means in ((name, one.ratings.mean(axis=2)) for name, one in variants.items())
        for i, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True))
        for v, (agent, text) in enumerate(zip(panel.agents, texts, strict=True))
        if text is not None
    ]
    write("records/judgments.parquet", pd.DataFrame(judgments))
    write_replies(context, panel, {judge: one.log for judge, one in variants.items()})


@dataclass(frozen=True)
class PerturbationResult:
    """What the judge makes of one perturbation."""

    perturbation: SuiteEntry
    items: int  # how many texts there are
    # how many of them it did not leave as they were, those among them that could not be written;
    # where it is 0, nothing else is known
    changed: int
    weights: list[float] | None  # [metrics], None for equal ones
    sizes: Counts  # [metrics] items rated before and after
    # D and the largest there is, on all items and without each of them, [1 + items, 2]: without
    # weights, with weights
    d: Floats
    most: Floats
    threshold: Pair  # what label-shuffled judges reach, of both

    @property
    def counts(self) -> bool:
        """Whether it changed enough texts to have a part in averages and minima."""
        return self.changed >= max(1, min(FEWEST, self.items))

    def fewest(self, *, weighted: bool) -> int:
        """Items of the metric with the fewest, of those that have weight."""
        weigh = weighted and self.weights is not None
        return int((self.sizes[np.array(self.weights) > 0] if weigh else self.sizes).min())

    @property
    def estimate(self) -> Estimate:
        """D with weights; n: items of the metric that has the fewest, unscored: the others."""
        low, high = map(float, discernment_ends(self.d[:, 1], self.most[:, 1]))
        n = self.fewest(weighted=True)
        return Estimate(float(self.d[0, 1]), low, high, n, self.items - n if self.changed else 0)

    @property
    def answer(self) -> str:
        """Whether D with weights exceeds its threshold: yes, no, or why there is no answer. Too few
        texts were rated where p would exceed .05 if all of them fell."""
        if not self.changed:
            return "nothing changed"
        if self.most[0, 1] < 1.0:
            return TOO_FEW
        if np.isnan(self.d[0, 1]):
            return "unscored"
        return "yes" if self.d[0, 1] > self.threshold[1] else "no"


@dataclass(frozen=True)
class JudgeResult:
    """What the ratings of one judge say of it."""

    variants: RatedVariants
    results: Sequence[PerturbationResult]
    in_averages: Sequence[PerturbationResult]  # those that changed enough texts
    ratings: Floats  # of the originals and the counted; NaN where they say nothing of the judge
    # AVERAGES of the counted -> value with its interval (n: items of the metric and perturbation
    # that has the fewest), and what chance reaches
    over: Mapping[str, tuple[Estimate, float]]

    @classmethod
    def of(
        cls, variants: RatedVariants, weights: ExpertWeights, how: How, replicates: int
    ) -> JudgeResult:
        """Test each perturbation, against so many label-shuffled judges."""
        ratings = check_array(variants.ratings, 3, "Ratings of a judge").copy()
        metrics, seed, results = variants.metrics, variants.context.seed, list[PerturbationResult]()
        changes = variants.degraded.changed[1:]
        pairs = zip(variants.degraded.suite.perturbations, ratings[1:], changes, strict=True)
        for one, after, changed in pairs:
            # Where no changed text was rated on a metric, before and after, only unchanged texts
            # are left, which are rated as their originals are, and D would be 0.
            after[:, np.isnan(ratings[0] - after)[changed].all(axis=0)] = np.nan
            own = weights.of((one.name, one.attack.name), metrics) if len(metrics) > 1 else None
            falls = ratings[0] - after
            items, ends = (~np.isnan(falls)).sum(axis=0), leave_one_out(falls, own, how)
            bar = calibrate(falls, own, how, replicates=replicates, seed=seed)
            count = int(changed.sum())
            results.append(PerturbationResult(one, len(after), count, own, items, *ends, bar))
        in_averages = [one for one in results if one.counts]
        part = ratings[[True, *(one.counts for one in results)]]
        over = _over(in_averages, part, how, replicates, seed)
        return cls(variants, results, in_averages, part, over)

    @property
    def average(self) -> tuple[Estimate, float]:
        """Of D over levels, with the weights of the metrics, and what chance reaches."""
        return self.over["average_ew"]

    @property
    def answers(self) -> dict[str, list[str]]:
        """Perturbations of enough texts by whether they are seen."""
        names: dict[str, list[str]] = {"yes": [], "no": [], "unscored": [], TOO_FEW: []}
        for one in self.in_averages:
            names[one.answer].append(one.perturbation.name)
        return names

    def most_items(self, *answers: str) -> int:
        """Items rated on the metric with the most, of the perturbations with these answers."""
        return max(
            (int(one.sizes.max()) for one in self.results if one.answer in answers), default=0
        )

    @property
    def unscored_texts(self) -> int:
        """Texts of which some rating is missing."""
        return int(np.isnan(self.variants.ratings).any(axis=2).sum())


def _over(
    results: Sequence[PerturbationResult], ratings: Floats, how: How, replicates: int, seed: int
) -> dict[str, tuple[Estimate, float]]:
    """AVERAGES over the perturbations that changed enough texts; NaN where none did."""
    if not results:
        return dict.fromkeys(AVERAGES, (Estimate(NAN, NAN, NAN, 0), NAN))
    levels, own = [one.perturbation.level for one in results], [one.weights for one in results]
    count = min(replicates, MOST)
    bars = calibrate_summary(ratings, own, levels, how, replicates=count, seed=seed)
    d, most = (np.stack(x, axis=-1) for x in zip(*((o.d, o.most) for o in results), strict=True))
    over = {}
    for name, side in AVERAGES.items():
        kind = name.removesuffix("_ew")
        average, largest = (
            level_balanced(x[:, side], levels) if kind == "average" else x[:, side].min(axis=-1)
            for x in (d, most)
        )
        low, high = map(float, discernment_ends(average, largest))
        n = min(one.fewest(weighted=bool(side)) for one in results)
        estimate = Estimate(float(average[0]), low, high, n, ratings.shape[1] - n)
        over[name] = estimate, bars[kind][side]
    return over


JudgeRanking = Mapping[str, JudgeResult]
Pairs = Mapping[tuple[str, str], PairedD]


def compare_judges(judges: JudgeRanking, how: How) -> tuple[JudgeRanking, Pairs]:
    """Judges that rated the same texts, the highest discernment first, unknown ones last; and every
    two of them in this order, by the items that both rated and the perturbations that changed
    enough texts."""
    values = {name: one.average[0].value for name, one in judges.items()}
    names = sorted(values, key=lambda name: (np.isnan(values[name]), -values[name]))
    ranking = {name: judges[name] for name in names}
    first = ranking[names[0]]
    if not first.in_averages:
        return ranking, {}
    ratings = {n: (x.ratings, [one.weights for one in x.in_averages]) for n, x in ranking.items()}
    levels = [one.perturbation.level for one in first.in_averages]
    texts, counts = first.variants.degraded.panel.texts, [one.counts for one in first.results]
    there = np.array([[text is not None for text in row[1:]] for row in texts]).T[counts]
    return ranking, paired_judges(ratings, levels, how, there)
