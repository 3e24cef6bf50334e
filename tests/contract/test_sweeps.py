"""The multiruns of experiments/sweeps compose and build, with a paper's models and offline."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra.types import RunMode

from experiments.catalogue import CONF
from judgelab.config import fitting, frame, resolved
from judgelab.config.composing import composed
from judgelab.config.launch import rehearse
from judgelab.engine.context import build_parts, with_lms
from tests import sweeps

FIGURES = {  # those that show data: the others are drawings, examples, or a survey's
    "GEM": {4, 5},
    "TVD-MI": {2},
    "DHP": {3, 4, 5, 6},
    "Auto-PRE": {3, 4, 5},
    "Ranking confidence": {2, 3, 4, 5, 6, 7, 8},
}
TABLES = {
    "GEM": {1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14},
    "TVD-MI": {2, 3, 4, 5},
    "Auto-PRE": {3, 4, 5, 6},
    "Ranking confidence": {1, 2, 3},
}


@pytest.mark.parametrize("name", sweeps.OVERRIDES)
def test_every_value_of_every_axis_composes_and_builds(name: str) -> None:
    assert sweeps.of_all_jobs(sweeps.OVERRIDES[name])[1].mode == RunMode.MULTIRUN, "without -m, too"
    for job in sweeps.telling(sweeps.OVERRIDES, name):
        config, _ = fitting(resolved(composed(job)))
        frame(config)
        build_parts(config)


@pytest.mark.parametrize("name", sweeps.REHEARSALS)
def test_a_rehearsal_needs_no_key_and_no_network(name: str) -> None:
    for job in sweeps.telling(sweeps.REHEARSALS, name):
        config, _ = fitting(resolved(composed(job)))
        frame(config)
        build_parts(with_lms(config)[0])
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


@pytest.mark.parametrize(("kind", "wanted"), [("Figure", FIGURES), ("Table", TABLES)])
def test_what_shows_data_has_its_sweep(kind: str, wanted: dict[str, set[int]]) -> None:
    found: dict[str, set[int]] = {}
    for sweep in sweeps.SWEEPS:
        if sweep.figures.startswith(kind):
            numbers = map(int, re.findall(r"\d+", sweep.figures))
            found.setdefault(sweep.paper, set()).update(numbers)
    assert {paper: found.get(paper) for paper in wanted} == wanted


@pytest.mark.parametrize("name", sweeps.OVERRIDES)
def test_printed_numbers_are_of_runs_of_the_sweep(name: str) -> None:
    overrides = sweeps.OVERRIDES[name]
    config, _ = sweeps.of_all_jobs(overrides)
    if config.printed is None:
        return
    values = {word for axis in sweeps.axes(overrides) for word in axis}
    keys = {word.partition("=")[0] for word in values}
    with (CONF / "papers" / "numbers" / config.printed).open(encoding="utf-8") as stream:
        rows = [{key: row[key] for key in row.keys() & keys} for row in csv.DictReader(stream)]
    assert rows
    assert all(f"{key}={value}" in values for row in rows for key, value in row.items())


@pytest.mark.parametrize("name", [path.stem for path in (CONF / "experiment").iterdir()])
def test_an_experiment_composes_and_builds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("judges.yaml").write_text("- {name: words, mechanism: length}\n")
    words = [f"experiment={name}", *["dataset.path=judged.csv"] * (name != "demo")]
    config, _ = fitting(resolved(composed(words)))
    frame(config)
    build_parts(config)


def test_the_rehearsal_of_an_experiment_needs_no_key_and_no_network() -> None:
    words = rehearse(["experiment=gem_finetune", "rehearsal=true"])
    config = resolved(composed(words))
    parts = build_parts(with_lms(config)[0])
    assert (parts.writers, config["dataset"]["source"]) == ({}, "sample")
    small, real = (one["study"]["settings"] for one in (config, resolved(composed(words[:1]))))
    changed = {key for key, value in small.items() if real[key] != value}
    assert changed == {"model", "optimizer", "max_steps", "batch", "accumulate"}
