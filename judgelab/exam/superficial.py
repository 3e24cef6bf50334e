"""How answers differ that a judge could tell apart without reading the question."""

from __future__ import annotations

import numpy as np

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.exam.protocol import Floats

HEADING = "Responses:\n"
"""What precedes a text whose fluency is asked for."""


def gaps(panel: Panel, lm: EvaluationLM) -> dict[str, Floats]:
    """First answer minus second: ``words``, and ``fluency`` where the LM has log-probabilities.

    Fluency is log P(text) by the LM, without its source, in nats per token (bytes, for a byte
    model).

    Args:
        panel: of two answers to each question.
        lm: the evaluation LM.

    Returns:
        [questions] of each; NaN where there are no two texts, or one could not be scored.
    """
    texts = list(dict.fromkeys(text for row in panel.texts for text in row if text is not None))
    found = {"words": {text: float(len(text.split())) for text in texts}}
    if Capability.LOGPROB in lm.capabilities and texts:
        asked = [HEADING], texts, [(0, k) for k in range(len(texts))]
        table = lm.logprob(*asked)
        lm.about(*asked, [("fluency",)] * len(texts))
        found["fluency"] = dict(zip(texts, table.per_token.tolist(), strict=True))
    return {
        name: np.array([_value(of, row[0]) - _value(of, row[1]) for row in panel.texts])
        for name, of in found.items()
    }


def _value(of: dict[str, float], text: str | None) -> float:
    return np.nan if text is None else of[text]
