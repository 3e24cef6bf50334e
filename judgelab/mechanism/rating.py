"""Each text is rated by itself on each metric (G-Eval style; DHP paper, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import ChatRequest, EvaluationLM, Exchange, Reply
from judgelab.core.panel import Panel
from judgelab.core.reply.grade import no_grade, stated_grade
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import Scores, array_of, mean_over, measured, weaker_of_two
from judgelab.core.step import present
from judgelab.mechanism.closed import ClosedMechanism, whole_grades
from judgelab.mechanism.criteria import Criteria, Metric, criteria_tasks, load_criteria
from judgelab.mechanism.protocol import Definition, Mechanism


@dataclass(frozen=True)
class MetricMechanism(Mechanism):
    """Rates each text by itself on each metric; an agent's score is the mean over metrics."""

    # a name of conf/criteria or a YAML file; None takes the panel's task
    criteria: str | None = None
    metrics: Sequence[str] | None = None  # those to rate, None for all of the criteria
    reads = "raw"

    @property
    def tasks(self) -> frozenset[str]:
        return criteria_tasks() if self.criteria is None else frozenset()

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Of the scales of all its metrics, where the criteria are given."""
        if self.criteria is None:
            return None
        grades = [grade for one in load_criteria(self.criteria).metrics for grade in one.scale]
        return float(min(grades)), float(max(grades))

    @property
    def levels(self) -> tuple[str, ...]:
        return () if self.criteria is None else load_criteria(self.criteria).levels

    def rated_metrics(self, panel: Panel) -> tuple[Criteria, tuple[Metric, ...]]:
        """The criteria for a panel, and which of their metrics are rated; a ConfigError where one
        is unknown, or none is named."""
        criteria = load_criteria(self.criteria or panel.task)
        if self.metrics is None:
            return criteria, criteria.metrics
        by_name = {metric.name: metric for metric in criteria.metrics}
        for name in self.metrics:
            if name not in by_name:
                raise ConfigError(f"mechanism.metrics: {name!r}.{did_you_mean(name, by_name)}")
        if not self.metrics:
            raise ConfigError("mechanism.metrics is empty: name metrics, or give null for all.")
        return criteria, tuple(by_name[name] for name in self.metrics)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Mean over draws, then over metrics; NaN where a metric has no rating. Beside it each
        metric's mean, and the share ``unread`` of what was asked for."""
        per_metric = mean_over(measured["rating"], "draw")
        # equal grades are a tie, in whatever order they were added up
        agent = per_metric.mean("metric", skipna=False).round(12)
        valid = measured["rating"].notnull()
        beside = {
            f"mean_{name}": float(values.mean()) if (values := one[~np.isnan(one)]).size else np.nan
            for name, one in zip(measured["metric"].values, per_metric.values.T, strict=True)
        }
        calls = int(measured.attrs.get("asked", valid.size))
        beside["unread"] = 1 - int(valid.sum()) / calls if calls else np.nan
        return Scores(agent=agent, pair=weaker_of_two(agent), diagnostics=beside)


@dataclass(frozen=True)
class Rating(MetricMechanism, ClosedMechanism):
    """A chat LM reads source and text, works through a metric's steps, and gives one grade.

    An agent's score is the mean over metrics; study=discernment takes the metrics one by one. The
    prompt's fields are text_noun, source_noun, metric, criterion, steps, scale, low, high, source
    and text.
    """

    temperature: NotNegative = 0.0
    max_tokens: Count = 20
    # replies per question, averaged. The paper takes 5, at temperature 0, where an LM that is
    # deterministic says five times the same. By labels each question is asked once
    repeats: Count = 1
    name: str = "rating"  # rating or acu_rating
    measurement = "rating"

    @property
    def labels(self) -> Mapping[str, str]:
        """Of the shortest scale: each metric has its own."""
        return whole_grades(0, 1)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``rating`` [item, agent, metric, draw]; NaN where text, source or a readable reply lacks.
        A reply that states no grade may state the name of a rubric's level."""
        criteria, metrics = self.rated_metrics(panel)
        requests: dict[tuple[int, int, int, int], ChatRequest] = {}
        for (k, j), text in present(panel).items():
            item = panel.items[k]
            if not item.source.strip():
                continue  # nothing to hold the text against
            for m, metric in enumerate(metrics):
                key = (self.name, item.id, panel.agents[j].name, metric.name)
                values = metric_fields(criteria, metric) | {"source": item.source, "text": text}
                labels = whole_grades(*metric.bounds)
                call = self.request(lm, key, values, labels=labels)
                for draw in range(self.repeats):
                    requests[k, j, m, draw] = call if call.labels else replace(call, repeat=draw)
        exchange = Exchange.ask(lm, requests)
        scales = [whole_grades(*metric.bounds) for metric in metrics]
        names = {name: float(grade) for grade, name in enumerate(criteria.levels)}

        def rating(cell: tuple[int, int, int, int], reply: Reply) -> float:
            grade = stated_grade(reply.text, *metrics[cell[2]].bounds)
            return stated_label(reply.text, names) if names and np.isnan(grade) else grade

        grades = self.read(
            exchange,
            rating,
            lambda cell, text: no_grade(text, *metrics[cell[2]].bounds),
            lambda cell: {grade: float(grade) for grade in scales[cell[2]]},
        )
        shape = (len(panel.items), len(panel.agents), len(metrics), self.repeats)
        data = ratings(panel, array_of(shape, grades), metrics, criteria)
        return data.assign_attrs(self.attrs(lm), asked=len(requests))


def metric_fields(criteria: Criteria, metric: Metric) -> dict[str, str]:
    """What a prompt says of one metric."""
    return {
        "text_noun": criteria.text,
        "source_noun": criteria.source,
        "metric": metric.name.replace("_", " "),
        "criterion": metric.criterion,
        "steps": "\n".join(f"{n}. {step}" for n, step in enumerate(metric.steps, start=1)),
        "scale": "\n".join(f"{grade}: {words}" for grade, words in metric.scale.items()),
        "low": str(metric.bounds[0]),
        "high": str(metric.bounds[1]),
    }


def ratings(
    panel: Panel, values: NDArray[np.float64], metrics: Sequence[Metric], criteria: Criteria
) -> xr.Dataset:
    """Label [item, agent, metric, draw] ratings."""
    data = measured(panel, rating=(("item", "agent", "metric", "draw"), values))
    data = data.assign_coords(metric=[metric.name for metric in metrics])
    return data.assign_attrs(criteria=criteria.identity)
