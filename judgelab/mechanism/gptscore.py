"""GPTScore: how likely is the answer, given what was asked for? (Auto-PRE paper, baselines)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads
from judgelab.mechanism.surface import score_texts


@dataclass(frozen=True)
class GptScore(BaseMechanism):
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
    measurement: ClassVar[str] = "gptscore"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.LOGPROB}),)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and those the LM could not score."""
        task = str(panel.provenance.get("task_description") or panel.task)
        contexts = [self.prompt.text(task=task, source=item.source) + "\n" for item in panel.items]
        cells: list[tuple[int, int]] = []
        targets: list[str] = []
        pairs: list[tuple[int, int]] = []
        for k, row in enumerate(panel.texts):
            for j, text in enumerate(row):
                if text is not None:
                    pairs.append((k, len(targets)))
                    targets.append(text)
                    cells.append((k, j))
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        if pairs:
            table = lm.logprob(contexts, targets, pairs)
            nats = table.per_token if self.per == "token" else table.total
            value[tuple(np.array(cells).T)] = nats
        data = measured(panel, value=(("item", "agent"), value))
        return data.assign_attrs(prompt=self.prompt.identity)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself; a pair is as good as its weaker text."""
        return score_texts(measured)
