"""GPTScore: how likely is the answer, given what was asked for? (Auto-PRE paper, baselines)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import measured
from judgelab.core.step import present
from judgelab.mechanism.logprob import Questions
from judgelab.mechanism.protocol import BY_LOGPROB
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class GptScore(TextMechanism):
    """log P(answer | instruction and source), nats per token: a sum would favour short answers."""

    prompt: Prompt  # fields task and source; the answer follows it
    reads = "raw"
    name = "gptscore"
    requires = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and those the LM could not score."""
        task, questions, places = panel.task_description, Questions(), {}
        for (k, j), text in present(panel).items():
            item = panel.items[k]
            context = self.prompt.text(task=task, source=item.source) + "\n"
            places[k, j] = questions.ask(context, text, item.id, panel.agents[j].name)
        answers = questions.put(lm)
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        for cell, place in places.items():
            nats, tokens = answers[place]
            value[cell] = nats / tokens if tokens > 0 else np.nan
        data = measured(panel, value=(("item", "agent"), value))
        return data.assign_attrs(prompt=self.prompt.identity)
