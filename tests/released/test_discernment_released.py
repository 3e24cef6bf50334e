"""The study on 100 real SummEval references, rated offline by a compressor."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judgelab.stats.discernment.score import How
from tests.unit.stats.discernment.test_discernment import discernment

METRICS = ["coherence", "consistency", "fluency", "relevance"]

ROWS = [  # judge, prompt, original, perturbed, p per metric, D as printed, D^EW uniform
    ("gpt-4-0314", "rts", "M22", "M11", (1.6e-16, 4.5e-11, 9.2e-18, 2.5e-11), 13.112, 12.649),
    ("gpt-4-0314", "rts", "M17", "M9", (6.0e-6, 0.249, 3.6e-9, 0.0051), 6.493, 6.030),
    ("gpt-4-0314", "rts", "M22", "M23", (0.126, 0.340, 8.5e-4, 0.5), 2.365, 1.902),
    ("gpt-3.5-turbo-0301", "mcq", "M17", "M15", (5.4e-4, 0.0082, 5.0e-4, 0.024), 2.768, 2.305),
    ("llama-2-7b-chat-hf", "rts", "M22", "M11", (0.124, 0.0068, 0.017, 0.387), 1.795, 1.332),
]


@pytest.fixture(scope="module")
def scores(shared_data: Path) -> pd.DataFrame:
    return pd.read_parquet(shared_data / "summeval" / "summeval_llm_judge_scores.parquet")


@pytest.mark.parametrize(("judge", "prompt", "better", "worse", "p", "d", "d_ew"), ROWS)
def test_worked_examples(
    scores: pd.DataFrame,
    judge: str,
    prompt: str,
    better: str,
    worse: str,
    p: tuple[float, ...],
    d: float,
    d_ew: float,
) -> None:
    own = scores[(scores["evaluator"] == judge) & (scores["prompt"] == prompt)]
    rated = {
        name: own[own["system_id"] == name].pivot(
            index="doc_id", columns="dimension", values="score"
        )[METRICS]
        for name in (better, worse)
    }
    assert len(rated[better]) == 100
    found = discernment(
        rated[better],
        rated[worse].loc[rated[better].index],
        how=How(combine="printed", method="normal"),
    )
    assert found.p == pytest.approx(p, rel=0.05)
    assert found.d == pytest.approx(d, abs=1e-3)
    assert found.d_ew == pytest.approx(d_ew, abs=1e-3)
    harmonic = How(method="normal")
    assert (
        discernment(rated[better], rated[worse].loc[rated[better].index], how=harmonic).d
        == found.d_ew
    )
