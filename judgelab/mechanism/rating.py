"""Each text is rated by itself on each metric (G-Eval style; DHP paper, section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.criteria import Criteria, Metric, criteria_tasks, load_criteria
from judgelab.core.errors import CapabilityError, ConfigError, did_you_mean
from judgelab.core.lm import ChatRequest, EvaluationLM, Message, Reply
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, mean_over, measured, weaker_of_two
from judgelab.mechanism.closed import Closed, ReplyMode, expected, whole_grades, with_shares
from judgelab.mechanism.grades import expected_grade, read_grade
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads

Aggregate = Literal["number", "expected"]


@dataclass(frozen=True)
class Rating(BaseMechanism):
    """A chat LM reads source and text, works through a metric's steps, and gives one grade.

    An agent's score is the mean over metrics; study=discernment takes the metrics one by one.

    Args:
        prompt: fields text_noun, source_noun, metric, criterion, steps, scale, low, high, source
            and text.
        criteria: a name of conf/criteria or a YAML file; None takes the panel's task.
        metrics: those to rate, None for all of the criteria.
        repeats: replies per question, averaged. The paper takes 5, at temperature 0, where an LM
            that is deterministic says five times the same.
        aggregate: ``number`` reads the grade; ``expected`` is the mean grade under the LM's
            probabilities of its token.
        temperature, max_tokens: of a generated reply.
        top_logprobs: alternatives asked for with ``expected``, of generated replies.
        name: rating or acu_rating.
        reply: generated, labels or auto; see judgelab.mechanism.closed. By labels each question is
            asked once, whatever ``repeats``.

    Raises:
        ConfigError: repeats, max_tokens or top_logprobs below 1, a negative temperature, or labels
            with a positive one.
    """

    prompt: Prompt
    criteria: str | None = None
    metrics: Sequence[str] | None = None
    repeats: int = 1
    aggregate: Aggregate = "number"
    temperature: float = 0.0
    max_tokens: int = 20
    top_logprobs: int = 20
    name: str = "rating"
    reply: ReplyMode = "auto"
    measurement: ClassVar[str] = "rating"
    reads: ClassVar[Reads] = "raw"

    def __post_init__(self) -> None:
        if min(self.repeats, self.max_tokens, self.top_logprobs) < 1 or self.temperature < 0:
            raise ConfigError(
                "mechanism.repeats, max_tokens and top_logprobs must be at least 1, and "
                "mechanism.temperature must not be negative."
            )
        _ = self.requires  # says what is wrong with the settings

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed(0, 1).requires,)

    def closed(self, low: int, high: int) -> Closed:
        """How the question on a metric of this scale is put."""
        labels = whole_grades(low, high)
        return Closed(self.reply, labels, self.prompt, self.prompt, self.temperature)

    @property
    def tasks(self) -> frozenset[str]:
        """Those with criteria; any where the criteria are given."""
        return criteria_tasks() if self.criteria is None else frozenset()

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``rating`` [item, agent, metric, draw]; NaN where text, source or a readable reply lacks.

        By labels, ``expected`` is the mean grade under their probabilities, whatever ``aggregate``.

        Raises:
            CapabilityError: ``expected`` with an LM whose replies carry no log-probabilities.
        """
        criteria = load_criteria(self.criteria or panel.task)
        metrics = chosen(criteria, self.metrics)
        shape = (len(panel.items), len(panel.agents), len(metrics), self.repeats)
        rating = np.full(shape, np.nan)
        cells: list[tuple[int, int, int, int]] = []
        requests: list[ChatRequest] = []
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            for j, text in enumerate(row):
                rated = text is not None and item.source.strip()  # nothing to hold it against
                for m, metric in enumerate(metrics if rated else ()):
                    key = (self.name, item.id, panel.agents[j].name, metric.name)
                    asked = rating_prompt(self.prompt, criteria, metric, item, text or "")
                    for draw in range(self.repeats):
                        requests.append(self._request(asked, draw, key, metric, lm))
                        cells.append((k, j, m, draw))
        replies = lm.chat(requests) if requests else []
        for cell, reply in zip(cells, replies, strict=True):
            rating[cell] = self._read(reply, metrics[cell[2]])
        self._refuse_without_probabilities(replies, lm)
        data = ratings(panel, rating, metrics, self.prompt, criteria)
        return self._with_shares(data, cells, replies, metrics, lm)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Mean over repeats and metrics; diagnostics hold each metric's mean."""
        return score_ratings(measured)

    def _request(
        self, asked: str, draw: int, key: tuple[str, ...], metric: Metric, lm: EvaluationLM
    ) -> ChatRequest:
        request = ChatRequest(
            messages=(Message("user", asked),),
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            repeat=draw,
            top_logprobs=self.top_logprobs if self.aggregate == "expected" else 0,
            key=key,
        )
        return self.closed(metric.low, metric.high).request(lm, request)

    def _with_shares(
        self,
        data: xr.Dataset,
        cells: Sequence[tuple[int, int, int, int]],
        replies: Sequence[Reply],
        metrics: Sequence[Metric],
        lm: EvaluationLM,
    ) -> xr.Dataset:
        low, high = min(m.low for m in metrics), max(m.high for m in metrics)
        closed, places = self.closed(low, high), [cell[:3] for cell in cells]
        data = data.assign_attrs(closed.attrs(lm))
        dims = ("item", "agent", "metric")
        return with_shares(data, dims, places, replies, closed.labels, graded=True)

    def _read(self, reply: Reply, metric: Metric) -> float:
        if self.aggregate == "expected" and reply.label_logprobs:
            return expected(reply, whole_grades(metric.low, metric.high))
        read = expected_grade if self.aggregate == "expected" else read_grade
        return read(reply, metric.low, metric.high)

    def _refuse_without_probabilities(self, replies: Sequence[Reply], lm: EvaluationLM) -> None:
        answered = [reply for reply in replies if reply.text is not None]
        if self.aggregate == "expected" and answered:
            if any(reply.top_logprobs or reply.label_logprobs for reply in answered):
                return
            raise CapabilityError(
                f"mechanism.aggregate=expected needs log-probabilities with every reply, and "
                f"{lm.identity.split()[0]} gave none: use aggregate=number, or, with an LM that "
                "scores texts, mechanism=rating_likelihood mechanism.form=grades."
            )


def chosen(criteria: Criteria, names: Sequence[str] | None) -> tuple[Metric, ...]:
    """The metrics of these names, in their order; all for None.

    Raises:
        ConfigError: an unknown name, or none at all.
    """
    if names is None:
        return criteria.metrics
    known = {metric.name: metric for metric in criteria.metrics}
    for name in names:
        if name not in known:
            raise ConfigError(f"mechanism.metrics: {name!r}.{did_you_mean(name, known)}")
    if not names:
        raise ConfigError("mechanism.metrics is empty: name metrics, or give null for all.")
    return tuple(known[name] for name in names)


def rating_prompt(prompt: Prompt, criteria: Criteria, metric: Metric, item: Item, text: str) -> str:
    """The question: one text, one metric."""
    return prompt.text(
        text_noun=criteria.text,
        source_noun=criteria.source,
        metric=metric.name.replace("_", " "),
        criterion=metric.criterion,
        steps="\n".join(f"{n}. {step}" for n, step in enumerate(metric.steps, start=1)),
        scale="\n".join(f"{grade}: {words}" for grade, words in metric.scale.items()),
        low=str(metric.low),
        high=str(metric.high),
        source=item.source,
        text=text,
    )


def ratings(
    panel: Panel,
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    metrics: Sequence[Metric],
    prompt: Prompt | None,
    criteria: Criteria,
) -> xr.Dataset:
    """Label [item, agent, metric, draw] ratings."""
    data = measured(panel, rating=(("item", "agent", "metric", "draw"), values))
    data = data.assign_coords(metric=[metric.name for metric in metrics])
    attrs = {} if prompt is None else {"prompt": prompt.identity}
    return data.assign_attrs(criteria=criteria.identity, **attrs)


def score_ratings(data: xr.Dataset) -> Scores:
    """Mean over draws, then over metrics; NaN where a metric has no rating."""
    per_metric = mean_over(data["rating"], "draw")
    agent = per_metric.mean("metric", skipna=False)
    rated = data["rating"].notnull()
    beside = {
        f"mean_{name}": float(values.mean()) if (values := _known(one)).size else np.nan
        for name, one in zip(data["metric"].values, per_metric.values.T, strict=True)
    }
    beside["unread"] = float(1 - rated.mean()) if rated.size else np.nan
    return Scores(agent=agent, pair=weaker_of_two(agent), diagnostics=beside)


def _known(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return values[~np.isnan(values)]
