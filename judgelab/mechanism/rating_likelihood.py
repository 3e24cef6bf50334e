"""Ratings from an LM that can only say how likely texts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.criteria import Criteria, Metric
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply.choice import mean_grade
from judgelab.core.sentences import sentences
from judgelab.mechanism.logprob import Questions
from judgelab.mechanism.protocol import BY_LOGPROB, Reads
from judgelab.mechanism.rating import MetricMechanism, ratings, shown

Form = Literal["text", "grades"]


@dataclass(frozen=True)
class RatingLikelihood(MetricMechanism):
    """One number per text and metric from log-probabilities alone, offline too.

    Forms:
        text: each metric's ``likelihood`` (see judgelab.core.criteria), nats per token, so that a
            text does not gain by being cut. No metric of the paper: a stand-in that is real.
        grades: mean grade under log P(grade | rating prompt), for LMs that follow instructions.

    Args:
        prompt: of the rating, for ``grades``.
        form: which of the two.
    """

    form: Form = "text"
    name: ClassVar[str] = "rating_likelihood"
    reads: ClassVar[Reads] = "raw"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``rating`` [item, agent, metric, draw] with one draw; NaN where a text is absent."""
        criteria, metrics = self.rated(panel)
        self._refuse_bare(criteria, metrics)
        values = np.full((len(panel.items), len(panel.agents), len(metrics), 1), np.nan)
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            questions = Questions()
            asked = [
                (j, m, self._ask(questions, criteria, metric, item, text, agent.name))
                for j, (agent, text) in enumerate(zip(panel.agents, row, strict=True))
                if text is not None and text.strip()
                for m, metric in enumerate(metrics)
            ]
            answers = questions.put(lm)
            for j, m, places in asked:
                rate = _grade if self.form == "grades" else _likelihood
                values[k, j, m, 0] = rate(metrics[m], [answers[place] for place in places])
        return ratings(panel, values, metrics, self._used, criteria)

    def _refuse_bare(self, criteria: Criteria, metrics: Sequence[Metric]) -> None:
        """Refuse metrics of which only a definition is known.

        Raises:
            ConfigError: ``text`` without a likelihood, or ``grades`` without steps.
        """
        key = "steps" if self.form == "grades" else "likelihood"
        if lacking := [metric.name for metric in metrics if not getattr(metric, key)]:
            raise ConfigError(
                f"{criteria.identity.split()[0]} gives no {key} for {', '.join(lacking)}, which "
                f"mechanism=rating_likelihood mechanism.form={self.form} needs: add it, or use "
                "mechanism=rating, where an LM that chats writes steps of its own."
            )

    @property
    def _used(self) -> Prompt | None:
        return self.prompt if self.form == "grades" else None

    def _ask(
        self,
        questions: Questions,
        criteria: Criteria,
        metric: Metric,
        item: Item,
        text: str,
        agent: str,
    ) -> list[int]:
        """Note what has to be asked for one rating; returns where the answers will be."""
        about = (item.id, agent)
        if self.form == "grades":
            context = self.prompt.text(**shown(criteria, metric, item, text)) + "\n"
            return [questions.ask(context, str(grade), *about) for grade in metric.scale]
        own, other = f"{criteria.text.capitalize()}:\n", f"{criteria.source.capitalize()}:\n"
        text, source = text.strip(), item.source.strip()
        if metric.likelihood == "text":
            return [questions.ask(own, text, *about)]
        if metric.likelihood == "text_given_source":
            return [questions.ask(f"{other}{source}\n\n{own}", text, *about)]
        if metric.likelihood == "source_given_text":
            return [questions.ask(f"{own}{text}\n\n{other}", source, *about)]
        return [questions.ask(own, part, *about) for part in (text, *sentences(text))]


def _likelihood(metric: Metric, answers: Sequence[tuple[float, float]]) -> float:
    """Nats per token from (nats, tokens): of the whole, less those of its parts."""
    (whole, tokens), *parts = answers
    if not tokens > 0:
        return np.nan
    return (whole - sum(nats for nats, _ in parts)) / tokens


def _grade(metric: Metric, answers: Sequence[tuple[float, float]]) -> float:
    return mean_grade((grade, nats) for grade, (nats, _) in zip(metric.scale, answers, strict=True))
