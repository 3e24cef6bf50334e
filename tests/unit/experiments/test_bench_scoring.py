"""What the benchmark of scoring asks every side."""

from __future__ import annotations

import pytest

from experiments.bench.scoring import JOBS


@pytest.mark.parametrize("name", JOBS)
def test_every_pair_of_a_job_is_of_its_texts(name: str) -> None:
    contexts, targets, pairs = JOBS[name].texts(["w"])
    assert len(set(pairs)) == len(pairs)
    assert {c for c, _ in pairs} == set(range(len(contexts)))
    assert {t for _, t in pairs} == set(range(len(targets)))
