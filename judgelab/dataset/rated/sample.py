"""A stand-in for annotated summaries that can be shipped: our own articles, invented scores.

The texts are excerpts of sample articles, and nobody scored them: human scores come from a
formula (a quality for each way of excerpting, plus noise), and the two judges are the noisy
estimator of the ranking-confidence paper applied to them, one with errors of its own for each
system. So every step of a study can be run and looked at, and its figures mean nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import sentencex

from judgelab.core.panel import rng_for
from judgelab.core.resources import samples
from judgelab.dataset.rated.panel import Rated, RatedSource

SAMPLES = samples()
FILES = (("cnn_dailymail", "article", "highlights"), ("xsum", "document", "summary"))
SYNTHETIC = (
    "excerpts of articles written for this project; human scores and judges are made by a formula"
)
"""What a result must say of this sample."""

Excerpt = Callable[[Sequence[str]], Sequence[str]]

SYSTEMS: tuple[tuple[str, float, Excerpt], ...] = (
    ("lead_3", 0.52, lambda s: s[:3]),
    ("lead_2", 0.47, lambda s: s[:2]),
    ("first_and_last", 0.43, lambda s: [s[0], s[-1]]),
    ("lead_1", 0.40, lambda s: s[:1]),
    ("longest", 0.37, lambda s: [max(s, key=len)]),
    ("middle_2", 0.32, lambda s: s[len(s) // 2 : len(s) // 2 + 2]),
    ("last_2", 0.28, lambda s: s[-2:]),
    ("shortest", 0.22, lambda s: [min(s, key=len)]),
)
"""Name, invented quality in [0, 1], and which sentences are taken."""


def sample_sources() -> dict[str, RatedSource]:
    """Item -> article and reference."""
    found = {}
    for name, article, summary in FILES:
        for line in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[str(row["id"])] = RatedSource(row[article], row[summary])
    return found


def sample_rows(key: str, low: float, high: float, step: float) -> Iterator[Rated]:
    """Eight systems on every article, with an invented human score and two invented judges.

    Args:
        key: seeds the scores, with item and system.
        low, high: the human scale.
        step: human scores are multiples of it above ``low``.
    """
    for item, source in sample_sources().items():
        sentences = [one.strip() for one in sentencex.segment("en", source.text) if one.strip()]
        for system, quality, excerpt in SYSTEMS:
            generator = rng_for(0, key, item, system)
            share = float(np.clip(quality + generator.normal(0, 0.2), 0, 1))
            human = low + step * round(share * (high - low) / step)
            own = rng_for(0, key, system).normal(0, 0.06)
            noise = generator.normal(0, 1, size=2)
            judges = {
                "judge_with_bias": 1 + 4 * float(share + own + 0.45 * noise[0]),
                "judge_without_bias": 1 + 4 * float(share + 0.6 * noise[1]),
            }
            yield Rated(item, system, human, judges, " ".join(excerpt(sentences)))
