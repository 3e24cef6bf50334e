"""The multiruns of experiments/sweeps compose and build, with a paper's models and offline."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hydra import compose, initialize_config_dir
from hydra.types import RunMode

from experiments.catalogue import CONF
from judgelab.config import frame, resolved
from judgelab.engine.parts import build_parts
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


@pytest.mark.parametrize("name", sweeps.OFFLINE)
def test_the_stand_in_needs_no_key_no_network_and_no_model(name: str) -> None:
    jobs = sweeps.covering(sweeps.OFFLINE[name])
    for job in (jobs[0], jobs[-1]) if len(jobs) > 1 else jobs:
        config = resolved(compose("config", overrides=job))
        build_parts(config)
        asked = [config["evaluation_lm"], *(config["study"].get("judges") or {}).values()]
        assert {lm["_target_"].rpartition(".")[2] for lm in asked} == {"Compression"}
        assert config.get("writer_lm") is None
        assert config["dataset"]["source"] == "sample"
        assert config["agents"]["_target_"].rpartition(".")[2] in ("Rules", "Recorded")


def test_every_figure_of_data_has_its_sweep() -> None:
    found: dict[str, set[int]] = {}
    for sweep in sweeps.SWEEPS:
        found.setdefault(sweep.paper, set()).update(map(int, re.findall(r"\d+", sweep.figures)))
    assert found == FIGURES


def test_every_stand_in_is_used() -> None:
    used = {word for words in sweeps.OFFLINE.values() for word in words}
    assert {f"offline={path.stem}" for path in (CONF / "papers/offline").glob("*.yaml")} < used


def test_candidates_have_a_size() -> None:
    config = resolved(compose("config", overrides=["agents=gre_bench"]))
    table = (CONF / "benchmarks/gre_bench.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[0] for line in table] == list(config["agents"]["models"])
