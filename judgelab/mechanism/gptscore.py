"""GPTScore: how likely is the answer, given what was asked for? (Auto-PRE paper, baselines)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import measured
from judgelab.core.step import present
from judgelab.mechanism.protocol import BY_LOGPROB, Reads
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class GptScore(TextMechanism):
    """log P(answer | instruction and source), nats.

    Args:
        prompt: fields task and source; the answer follows it.
        per: nats per ``token`` (as GPTScore has it), or their ``sum``, which favours short answers.
        reads: which texts: raw, or preprocessed.
    """

    prompt: Prompt
    per: Literal["token", "sum"] = "token"
    reads: Reads = "raw"
    name: ClassVar[str] = "gptscore"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and those the LM could not score."""
        task = panel.task_description
        contexts = [self.prompt.text(task=task, source=item.source) + "\n" for item in panel.items]
        texts = present(panel)
        pairs = [(k, target) for target, (k, _) in enumerate(texts)]
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        if pairs:
            table = lm.logprob(contexts, list(texts.values()), pairs)
            own = [("", panel.items[k].id, panel.agents[j].name) for k, j in texts]
            lm.about(contexts, list(texts.values()), pairs, own)
            nats = table.per_token if self.per == "token" else table.total
            value[tuple(np.array(list(texts)).T)] = nats
        data = measured(panel, value=(("item", "agent"), value))
        return data.assign_attrs(prompt=self.prompt.identity)
