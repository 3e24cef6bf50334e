"""Salience in content units, graded by a chat LM (ranking-confidence paper, appendix H)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.capability import Capability
from judgelab.errors import ConfigError
from judgelab.evaluation_lm.protocol import ChatRequest, EvaluationLM, Reply
from judgelab.mechanism.protocol import Definition, Reads
from judgelab.mechanism.surface import score_texts
from judgelab.panel import Panel
from judgelab.prompt import Prompt
from judgelab.scores import Scores, measured

LOWEST, HIGHEST = 1.0, 5.0
GRADE = re.compile(
    r"""
    (?:[\s*_#>"'`]|-\s)*                 # list marks, emphasis, quotes
    (?:[^\d\n]{0,80}(?:\(\s*1\s*[-–]\s*5\s*\))?\s*:)?  # the form's label, with its scale
    [\s*_"'`]*
    (\d+(?:\.\d+)?)                      # the grade
    (?:\s*(?:/|out\ of)\s*5)?            # of five
    [\s*_"'`.]*
    """,
    re.VERBOSE,
)
"""A whole line that holds one grade and nothing else."""


@dataclass(frozen=True)
class AcuRating:
    """G-Eval's form for atomic content units: source and text in, one grade from 1 to 5 out.

    The paper gives neither references nor their content units, so that the metric needs no human
    text, and takes a single reply at temperature 0 (G-Eval's own weighting by probabilities needs
    more than that). A reply without exactly one grade leaves the text unscored.

    Args:
        prompt: fields source and text.
        temperature: of the LM.
        max_tokens: upper bound on the reply.

    Raises:
        ConfigError: max_tokens below 1, or a negative temperature.
    """

    prompt: Prompt
    temperature: float = 0.0
    max_tokens: int = 10
    name: ClassVar[str] = "acu_rating"
    measurement: ClassVar[str] = "acu_rating"
    reads: ClassVar[Reads] = "raw"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.CHAT}),)

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.temperature < 0:
            raise ConfigError(
                "mechanism.max_tokens must be at least 1, and mechanism.temperature not negative."
            )

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent], 1 to 5; NaN for absent texts, sources and grades."""
        cells: list[tuple[int, int]] = []
        requests: list[ChatRequest] = []
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            for j, text in enumerate(row):
                if text is None or not item.source.strip():
                    continue
                messages = self.prompt.messages(source=item.source, text=text)
                key = (self.name, item.id, panel.agents[j].name)
                requests.append(ChatRequest(messages, self.temperature, self.max_tokens, key=key))
                cells.append((k, j))
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        for cell, reply in zip(cells, lm.chat(requests) if requests else [], strict=True):
            value[cell] = read_grade(reply)
        data = measured(panel, value=(("item", "agent"), value))
        return data.assign_attrs(prompt=self.prompt.identity)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The grade itself; a pair is as good as its weaker text."""
        return score_texts(measured)


def read_grade(reply: Reply) -> float:
    """The grade a reply gives; NaN where it gives none, several, or one outside 1 to 5.

    The reply, or a line of it, must hold the grade alone or behind a label and a colon: ``4``,
    ``4.5``, ``4/5``, ``ACU Salience: 4``, ``Salience (1-5): **4**``. Numbers within a sentence are
    not grades.
    """
    lines = (reply.text or "").strip().splitlines()
    found = {float(match[1]) for line in lines if (match := GRADE.fullmatch(line))}
    if len(found) != 1:
        return np.nan
    grade = found.pop()
    return grade if LOWEST <= grade <= HIGHEST else np.nan
