"""LMExaminer: a chat LM grades each text by itself (GEM paper, appendix D.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.closed import Closed, ReplyMode, whole_grades, with_shares
from judgelab.mechanism.conditional import ABSENT
from judgelab.mechanism.peers import judged_pairs
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads
from judgelab.mechanism.surface import score_texts

GRADE = re.compile(r"<overall_score>\s*(\d+(?:\.\d+)?)(?:\s*/\s*10)?\s*</overall_score>")
LOWEST, HIGHEST = 0.0, 10.0
LABELS = whole_grades(LOWEST, HIGHEST)


@dataclass(frozen=True)
class LmExaminer(BaseMechanism):
    """A grade from 0 to 10 for understanding, coverage, substantiation and constructiveness.

    The LM sees the item's source, where there is one, and the text; it sees no peer's text, so
    the grade does not depend on y. A reply without a grade between 0 and 10 in its tag leaves the
    text unscored (the release counts it as 5).

    Args:
        prompt: fields task, source and text.
        temperature: of the LM.
        max_tokens: upper bound on the reply.
        reads: which texts: raw, or preprocessed.
        reply: generated, labels or auto; see judgelab.mechanism.closed.
        prompt_labels: asks for the grade alone, for replies by labels; the same fields.
    """

    prompt: Prompt
    temperature: float = 0.0
    max_tokens: int = 4000
    reads: Reads = "raw"
    reply: ReplyMode = "auto"
    prompt_labels: Prompt | None = None
    name: ClassVar[str] = "lm_examiner"
    measurement: ClassVar[str] = "lm_examiner"

    def __post_init__(self) -> None:
        _ = self.closed  # says what is wrong with the settings

    @property
    def closed(self) -> Closed:
        """How the questions are put."""
        return Closed(self.reply, LABELS, self.prompt, self.prompt_labels, self.temperature)

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed.requires,)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]: the grade, 0 to 10; NaN for reference agents and unscored.

        By labels, ``expected`` is the mean grade under their probabilities.
        """
        closed, prompt = self.closed, self.closed.asked(lm)
        judged = np.asarray(judged_pairs(panel).any(axis=1))
        task = str(panel.provenance.get("task_description") or panel.task)
        cells: list[tuple[int, int]] = []
        requests: list[ChatRequest] = []
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            for j, text in enumerate(row):
                if text is None or not judged[j]:
                    continue
                source = item.source if item.source.strip() else ABSENT
                messages = prompt.messages(task=task, source=source, text=text)
                key = (self.name, item.id, panel.agents[j].name)
                request = ChatRequest(messages, self.temperature, self.max_tokens, key=key)
                requests.append(closed.request(lm, request))
                cells.append((k, j))
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        replies = lm.chat(requests) if requests else []
        for cell, reply in zip(cells, replies, strict=True):
            value[cell] = float(reply.text or "nan") if reply.label_logprobs else read_grade(reply)
        dims = ("item", "agent")
        data = measured(panel, value=(dims, value)).assign_attrs(closed.attrs(lm))
        return with_shares(data, dims, cells, replies, LABELS, graded=True)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The grade itself; a pair is as good as its weaker text."""
        return score_texts(measured)


def read_grade(reply: Reply) -> float:
    """The number in the tag; NaN where there is none, two different ones, or one outside 0-10."""
    grades = {float(found) for found in GRADE.findall(reply.text or "")}
    if len(grades) != 1:
        return np.nan
    grade = grades.pop()
    return grade if LOWEST <= grade <= HIGHEST else np.nan
