"""What the paper prints (tables.yaml), and the recipes behind it (recipes.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.command import printed_tables

NAMES = {
    "GPT-4": "gpt4",
    "Vicuna-7b-v1": "vicuna-7b",
    "Baichuan2-13b": "baichuan2-13b",
    "GPT-3.5-turbo": "gpt-3.5-turbo",
}
"""Model as Table 9 prints it -> as the exam's rows have it, where they differ."""


def printed(table: str) -> Any:
    """A table by its key."""
    return printed_tables("auto_pre")[table]


def number(table: str, row: str, dataset: str, column: str) -> float | None:
    """A cell of Table 3 (``accuracy``), 4 (``spearman``) or 5 (``bias``: accuracy, or rate in per
    cent); None where the paper has none."""
    value = printed(table).get(row, {}).get(dataset, {}).get(column)
    return float(value) if isinstance(value, int | float) else None


def ablation(row: str, dataset: str) -> tuple[float | None, tuple[str, ...] | None]:
    """A cell of Table 6, and the judges that it says passed."""
    value, passed = printed("ablation").get(row, {}).get(dataset) or (None, None)
    return (
        float(value) if isinstance(value, int | float) else None,
        None if passed is None else judges("".join(map(str, passed))),
    )


def pertinence(first: str, second: str) -> dict[str, float]:
    """Judge -> P_p of a row of Table 9, models named as the exam's rows do."""
    for row in printed("pertinence"):
        if (released_name(row["L1"]), released_name(row["L2"])) == (first, second):
            return {k: float(v) for k, v in row.items() if k not in ("L1", "L2")}
    return {}


@cache
def recipes() -> Mapping[str, Any]:
    """recipes.yaml, beside this folder."""
    file = Path(__file__).parents[1] / "recipes.yaml"
    content: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def settings(dataset: str) -> Mapping[str, Any]:
    """How the authors count on a dataset."""
    result: Mapping[str, Any] = {**recipes()["usual"], **recipes()["datasets"].get(dataset, {})}
    return result


def judges(numbers: str) -> tuple[str, ...]:
    """ "467" -> the names of judges 4, 6 and 7."""
    return tuple(recipes()["judges"][int(number) - 1] for number in numbers)


def numbers(names: tuple[str, ...]) -> str:
    """The other way round; names that have no number stand as they are."""
    listed = recipes()["judges"]
    if all(name in listed for name in names):
        return "".join(sorted(str(listed.index(name) + 1) for name in names))
    return "+".join(names)


def released_name(model: str) -> str:
    """A model of Table 9 as the exam's rows call it."""
    return NAMES.get(model, model)
