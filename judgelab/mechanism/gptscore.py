"""GPTScore: how likely is the answer, given what was asked for? (Auto-PRE paper, baselines)"""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import TEXT, measured
from judgelab.core.step import Cell, present
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
        task, questions = panel.task_description, Questions[Cell]()
        for (k, j), text in present(panel).items():
            item = panel.items[k]
            context = self.prompt.text(task=task, source=item.source) + "\n"
            questions.ask((k, j), context, text, item.id, panel.agents[j].name)
        answers = questions.answers(lm).items()
        per_token = {cell: nats / tokens for cell, (nats, tokens) in answers if tokens > 0}
        return measured(panel, value=(TEXT, per_token)).assign_attrs(prompt=self.prompt.identity)
