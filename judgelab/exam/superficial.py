"""How answers differ to somebody who reads no question: length, fluency, and couples without."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.core.lm import Capability, EvaluationLM
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
    known: dict[str, dict[str | None, float]] = {
        "words": {text: float(len(text.split())) for text in texts}
    }
    if Capability.LOGPROB in lm.capabilities and texts:
        asked = [HEADING], texts, [(0, k) for k in range(len(texts))]
        table = lm.logprob(*asked)
        lm.about(*asked, [("fluency",)] * len(texts))
        known["fluency"] = dict(zip(texts, table.per_token.tolist(), strict=True))
    return {
        name: np.array([of.get(a, np.nan) - of.get(b, np.nan) for a, b in panel.texts])
        for name, of in known.items()
    }


def length(text: str) -> float:
    """ln of the number of words; of nothing as of one word."""
    return float(np.log(max(len(text.split()), 1)))


def couples(gaps: Floats, most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Couples of candidates [couples, 2], longer and shorter by as much as can be.

    Whoever prefers the longer answer, or the shorter one, is right about one of each couple. The
    assignment has the least sum of what the two gaps of a couple lack of cancelling out; of its
    better half (and no fewer than ``most``) so many are drawn.

    Args:
        gaps: [candidates] ln length of the relevant answer minus that of the irrelevant one.
        most: couples to be drawn; None: all there are.
        rng: of the draw.
    """
    from scipy.optimize import linear_sum_assignment

    longer, shorter = np.flatnonzero(gaps > 0), np.flatnonzero(gaps < 0)
    left = np.abs(gaps[longer][:, None] + gaps[shorter][None, :])
    rows, columns = linear_sum_assignment(left)
    matched = np.stack([longer[rows], shorter[columns]], axis=1)
    if most is None:
        return matched
    best = np.argsort(left[rows, columns], kind="stable")[: max(most, len(matched) // 2)]
    return np.asarray(matched[rng.permutation(best)[:most]])
