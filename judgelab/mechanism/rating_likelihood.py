"""Ratings from an LM that can only say how likely texts are."""

from __future__ import annotations

import numpy as np
import xarray as xr

from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.sentences import sentences
from judgelab.mechanism.criteria import Criteria, Metric
from judgelab.mechanism.logprob import Questions
from judgelab.mechanism.protocol import BY_LOGPROB
from judgelab.mechanism.rating import MetricMechanism, ratings


class RatingLikelihood(MetricMechanism):
    """One number per text and metric from log-probabilities alone, offline too.

    It is the metric's ``likelihood`` (``mechanism.criteria``), nats per token, so that a text does
    not gain by being cut. No metric of the paper: a stand-in that is real.
    """

    name = "rating_likelihood"
    requires = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``rating`` [item, agent, metric, draw] with one draw; NaN where a text is absent. A
        ConfigError where the criteria give no likelihood for a metric."""
        criteria, metrics = self.rated_metrics(panel)
        if lacking := [metric.name for metric in metrics if metric.likelihood is None]:
            raise ConfigError(
                f"{criteria.identity.split()[0]} gives no likelihood for {', '.join(lacking)}, "
                "which mechanism=rating_likelihood needs: add it, or use mechanism=rating, where "
                "an LM that chats writes steps of its own."
            )
        values = np.full((len(panel.items), len(panel.agents), len(metrics), 1), np.nan)
        for k, item in enumerate(panel.items):
            questions, parts = Questions[tuple[int, int, int]](), dict[tuple[int, int], int]()
            for j, text in enumerate(panel.texts[k]):
                about = (item.id, panel.agents[j].name)
                for m, metric in enumerate(metrics) if text and text.strip() else ():
                    texts = _parts(criteria, metric, item.source.strip(), (text or "").strip())
                    parts[j, m] = len(texts)
                    for n, pair in enumerate(texts):
                        questions.ask((j, m, n), *pair, *about)
            answers = questions.answers(lm)
            for (j, m), count in parts.items():
                whole, tokens = answers[j, m, 0]
                if tokens > 0:
                    beside = sum(answers[j, m, n][0] for n in range(1, count))
                    values[k, j, m, 0] = (whole - beside) / tokens
        return ratings(panel, values, metrics, criteria)


def _parts(criteria: Criteria, metric: Metric, source: str, text: str) -> list[tuple[str, str]]:
    """(context, target) of the whole, and of parts whose nats are taken off it."""
    own, other = f"{criteria.text.capitalize()}:\n", f"{criteria.source.capitalize()}:\n"
    if metric.likelihood == "text_given_source":
        return [(f"{other}{source}\n\n{own}", text)]
    if metric.likelihood == "source_given_text":
        return [(f"{own}{text}\n\n{other}", source)]
    parts = sentences(text) if metric.likelihood == "sentences_in_context" else []
    return [(own, part) for part in (text, *parts)]
