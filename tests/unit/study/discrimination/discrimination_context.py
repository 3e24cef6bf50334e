"""A lab for study=discrimination: texts whose quality stands in them, and judges that read it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from judgelab.attack.protocol import Attack
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Mechanism
from tests.scripted import NOBODY, panel_of
from tests.unit.study.discernment.discernment_context import lab

CATEGORIES = ("Faithful", "Style", "Strategic", "Low Effort")
WORDS = re.compile(r"\bquality (\d)\b")


def graded(items: int = 12, categories: tuple[str | None, ...] = CATEGORIES) -> Panel:
    """Agents a0 (best) to a3; longer texts are better."""
    rows = [[f"quality {9 - j} of {k}" + " word" * (6 - j + k % 3) for j in range(4)]
            for k in range(items)]  # fmt: skip
    return replace(panel_of(rows, categories), provenance={"dataset": "graded"})


def context(
    folder: Path,
    mechanism: Mechanism,
    lm: EvaluationLM = NOBODY,
    attack: Attack | None = None,
    panel: Panel | None = None,
) -> Context:
    return lab(folder, lm, mechanism, graded() if panel is None else panel, attack)


def better(request: ChatRequest) -> str:
    """The verdict of a judge without faults."""
    answers = request.messages[0].content.split("[End of answer A]")
    first, second = (int(WORDS.findall(answer)[0]) for answer in answers)
    return "[[A]]" if first > second else "[[B]]"
