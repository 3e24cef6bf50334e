"""What an audit says depends on no order and no name; and not on how often the same is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from judgelab.core.result import Result
from tests.judgment_tables import KINDS, audited, doubled, pairs, renamed, rows, shuffled, swapped

MOST = ("conditions", "averages", "agreement", "confusion", "classes")
TOLD = pytest.mark.parametrize("kind", KINDS)


def told(result: Result, names: Mapping[str, str] | None = None, *tables: str) -> Any:
    """Everything that was found, in an order of its own, with the old names."""

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return f"{value:.7g}" if abs(value) > 1e-9 else "0"
        if isinstance(value, str):
            return re.sub(r"q\d{5,}q", lambda m: (names or {})[m[0]], value)
        return value

    def rows_of(name: str) -> list[str]:
        made = [{plain(k): v for k, v in row.items()} for row in rows(result, name)]
        made = [of_the_first({k: plain(v) if isinstance(v, str) else v for k, v in row.items()})
                for row in made]  # fmt: skip
        shown = [{k: plain(v) for k, v in row.items() if k != "best_simple_rule"} for row in made]
        return sorted(json.dumps(row, sort_keys=True) for row in shown)

    return {name: rows_of(name) for name in tables or ("judges", *MOST, "disagreements")}


def of_the_first(row: dict[str, Any]) -> dict[str, Any]:
    """A win rate of system 1 as one of system 0."""
    if row.get("number") != "win rate of 'system 1'":
        return row
    row["number"] = "win rate of 'system 0'"
    for key in ("judge_alone", "people_alone", "best_estimate", "bias"):
        if key in row:
            whole = 0 if key == "bias" else 1
            low, high = whole - row[f"{key}_high"], whole - row[f"{key}_low"]
            row |= {key: whole - row[key], f"{key}_low": low, f"{key}_high": high}
    return row


@TOLD
@pytest.mark.parametrize("seed", range(4))
def test_orders_and_names_change_nothing(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = KINDS[kind](rng)
    first = audited(table)
    assert told(audited(shuffled(table, rng))) == told(first)
    other, names = renamed(shuffled(table, rng), rng)
    found = audited(other)
    assert told(found, names) == told(first)
    if len(table.judges) == 1:
        title = re.sub(r"q\d{5,}q", lambda m: names[m[0]], found.title)
        assert title.replace("The ", "") == first.title.replace("The ", "").replace("the j", "j")


@pytest.mark.parametrize("seed", range(4))
def test_sides_of_pairs_change_nothing(seed: int) -> None:
    """All or half of them; one judge is asked in one order alone."""
    rng = np.random.default_rng(seed)
    table, both = pairs(rng), np.arange(3)[:, None, None] < 2
    asked = both | np.broadcast_to([True, False], table.asked.shape)
    once = replace(table, asked=asked, verdicts=np.where(asked, table.verdicts, np.nan))
    first = told(audited(once), None, "judges", *MOST)
    for share in (2, 0.5):
        found = audited(swapped(once, rng.random(90) < share))
        assert told(found, None, "judges", *MOST) == first


@TOLD
@pytest.mark.parametrize("seed", range(2))
def test_what_is_seen_twice_keeps_its_values(kind: str, seed: int) -> None:
    """Only intervals become narrower."""
    table = KINDS[kind](np.random.default_rng(seed))
    once, twice = audited(table), audited(doubled(table))
    single = {str(row["judge"]): row for row in rows(once, "judges")}
    kept = {"agreement", "agreement_of_people", "agreement_of_that_rule"}
    kept |= {"kappa", "finds_good", "finds_wrong"}
    for row in rows(twice, "judges"):
        one = single[str(row["judge"])]
        for key in kept & row.keys():
            assert row[key] == pytest.approx(one[key], abs=1e-9), key
        widths = [float(x["agreement_high"]) - float(x["agreement_low"]) for x in (one, row)]  # type: ignore[arg-type]
        assert widths[1] < 0.85 * widths[0]
    averages = {str(row["judge"]): row for row in rows(once, "averages")}
    for row in rows(twice, "averages"):
        for key in {"judge_alone", "people_alone"} & row.keys():
            assert row[key] == pytest.approx(averages[str(row["judge"])][key], abs=1e-9)
