"""conf/papers/numbers holds numbers of the papers' tables, under settings of its sweeps."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.catalogue import CONF
from experiments.command import printed_tables
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.engine.execution import Invocation, printed

FILES = sorted((CONF / "papers" / "numbers").iterdir())
PAPERS = {
    "tvd": "peer_prediction",
    "gem": "gem",
    "auto": "auto_pre",
    "ranking": "ranking_confidence",
}


def numbers_in(node: object) -> Iterator[float]:
    """Every number of a paper's tables; those in per cent as shares, too."""
    if isinstance(node, int | float):
        yield from (float(node), round(node / 100, 6))
    elif isinstance(node, dict | list):
        for one in node.values() if isinstance(node, dict) else node:
            yield from numbers_in(one)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_number_is_printed_and_no_cell_stands_twice(file: Path) -> None:
    known = set(numbers_in(printed_tables(PAPERS[file.stem.partition("_")[0]])))
    with file.open(encoding="utf-8") as stream:
        _, *rows = csv.reader(stream)
    cells = {tuple(row[:-1]): float(row[-1]) for row in rows}
    assert len(cells) == len(rows) and set(cells.values()) <= known


@pytest.mark.parametrize(
    ("sweep", "words", "statistic", "value"),
    [
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
    call = Invocation(choices={"mechanism": "pairwise", **choices})
    numbers = printed(config["printed"], call, config)
    assert numbers[f"printed/{statistic}"] == value
