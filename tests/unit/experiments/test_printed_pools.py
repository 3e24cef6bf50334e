"""conf/papers/numbers is made from the papers' tables, and its settings are those of its sweeps."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments import printed_pools
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.engine.printed import printed


def test_the_files_are_what_the_tables_make(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_pools.main([]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("sweep", "words", "statistic", "value"),
    [
        (
            "auto_pre_tables_3_4",
            {"dataset": "auto_pre_xsum", "mechanism": "pointwise5"},
            "pools/C+P+S/value",
            0.7231,
        ),
        ("auto_pre_tables_5_6", {"dataset": "auto_pre_nf_cats"}, "bias/gpt4_turbo/value", 0.8788),
        (
            "ranking_confidence_tables_1_2_3",
            {"dataset.hub.config": "xsum"},
            "systems/brio-ranking/value",
            2.781,
        ),
    ],
)
def test_a_run_of_a_sweep_has_its_numbers(
    sweep: str, words: dict[str, str], statistic: str, value: float
) -> None:
    """By the settings that a run has."""
    overrides = [f"{key}={option}" for key, option in words.items()]
    config = resolved(composed([f"sweep={sweep}", *overrides]))
    choices = {key: one for key, one in words.items() if "." not in key}
    numbers = printed(config["printed"], config, {"mechanism": "pairwise", **choices})
    assert numbers[f"printed/{statistic}"] == value


def test_no_cell_stands_twice() -> None:
    for path in printed_pools.files():
        with Path(path).open(encoding="utf-8") as stream:
            rows = [tuple(row[:-1]) for row in csv.reader(stream)]
        assert len(set(rows)) == len(rows), path.name
