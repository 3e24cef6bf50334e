"""The multiruns of experiments/sweeps compose and build, with a paper's models and offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.types import RunMode

from experiments.catalogue import CONF
from judgelab.config import frame, resolved
from judgelab.engine.parts import assigned, build_parts
from tests import sweeps

FIGURES = {  # those that show data: the others are drawings, examples, or a survey's
    "GEM": {4, 5},
    "TVD-MI": {2},
    "DHP": {3, 4, 5, 6},
    "Auto-PRE": {3, 4, 5},
    "Ranking confidence": {2, 3, 4, 5, 6, 7, 8},
}


@pytest.fixture(autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", sweeps.OVERRIDES)
def test_every_value_of_every_axis_composes_and_builds(name: str) -> None:
    overrides = sweeps.OVERRIDES[name]
    assert sweeps.hydra_config(overrides).mode == RunMode.MULTIRUN, "without -m, too"
    for job in sweeps.covering(overrides):
        config = resolved(compose("config", overrides=job))
        frame(config)
        build_parts(config)


@pytest.mark.parametrize("name", sweeps.REHEARSALS)
def test_a_rehearsal_needs_no_key_and_no_network(name: str) -> None:
    for job in sweeps.covering(sweeps.REHEARSALS[name]):
        config = resolved(compose("config", overrides=job))
        frame(config)
        build_parts(assigned(config)[0])
        assert config["rehearsal"] is True
        assert config["limit"] is not None
        lms = [one for one in nodes(config) if "evaluation_lm" in str(one.get("_target_"))]
        assert {lm["_target_"].rpartition(".")[2] for lm in lms} <= {"Compression", "Transformers"}
        assert {lm["model"] for lm in lms if "model" in lm} <= {"outputs/models/smollm2"}
        assert config["dataset"].get("source") != "hub"


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a config."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            yield from nodes(one)


def test_every_figure_of_data_has_its_sweep() -> None:
    found: dict[str, set[int]] = {}
    for sweep in sweeps.SWEEPS:
        if sweep.figures.startswith("Figure"):
            numbers = map(int, re.findall(r"\d+", sweep.figures))
            found.setdefault(sweep.paper, set()).update(numbers)
    assert found == FIGURES


def test_candidates_have_a_size() -> None:
    config = resolved(compose("config", overrides=["agents=gre_bench"]))
    table = (CONF / "benchmarks/gre_bench.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[0] for line in table] == list(config["agents"]["models"])
