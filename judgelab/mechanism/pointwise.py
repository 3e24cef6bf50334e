"""One answer at a time on a scale of 5 or 100 levels (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.parse_reply import Which, read_number
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.closed import Closed, ReplyMode, whole_grades, with_shares
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads
from judgelab.mechanism.surface import score_texts


@dataclass(frozen=True)
class Pointwise(BaseMechanism):
    """A number for every answer.

    The first (or last) number of the reply counts; one outside the scale, or no number, leaves
    the answer unscored (the release gives it -1, or lets it through).

    Args:
        name: pointwise5 or pointwise100.
        prompt: fields task, source and text.
        low: lowest number of the scale.
        high: highest number.
        which: of several numbers in a reply, the first or the last counts.
        temperature: of the LM.
        max_tokens: upper bound on the reply.
        reads: which texts: raw, or preprocessed.
        reply: generated, labels (whole numbers only) or auto; see judgelab.mechanism.closed.

    Raises:
        ConfigError: the scale has no length, or labels cannot be had of it.
    """

    name: str
    prompt: Prompt
    low: float = 1.0
    high: float = 5.0
    which: Which = "first"
    temperature: float = 0.0
    max_tokens: int = 16
    reads: Reads = "raw"
    reply: ReplyMode = "auto"
    measurement: ClassVar[str] = "pointwise"

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")
        _ = self.closed  # says what is wrong with the settings

    @property
    def closed(self) -> Closed:
        """How the questions are put."""
        labels = whole_grades(self.low, self.high)
        return Closed(self.reply, labels, self.prompt, self.prompt, self.temperature)

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed.requires,)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]: the number; NaN for absent texts and unread replies.

        By labels, ``expected`` is the mean grade under their probabilities.
        """
        closed = self.closed
        task = str(panel.provenance.get("task_description") or panel.task)
        cells, requests = [], []
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            for j, text in enumerate(row):
                if text is None:
                    continue
                messages = self.prompt.messages(task=task, source=item.source, text=text)
                key = (self.name, item.id, panel.agents[j].name)
                request = ChatRequest(messages, self.temperature, self.max_tokens, key=key)
                requests.append(closed.request(lm, request))
                cells.append((k, j))
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        replies = lm.chat(requests) if requests else []
        for cell, reply in zip(cells, replies, strict=True):
            value[cell] = read_number(reply.text, self.low, self.high, self.which)
        dims = ("item", "agent")
        data = measured(panel, value=(dims, value)).assign_attrs(closed.attrs(lm))
        return with_shares(data, dims, cells, replies, closed.labels, graded=True)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The number itself; a pair is as good as its weaker text."""
        return score_texts(measured)
