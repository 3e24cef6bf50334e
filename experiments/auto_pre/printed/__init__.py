"""What the paper prints (tables.yaml), and the recipes behind it (recipes.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

NAMES = {
    "GPT-4": "gpt4",
    "Vicuna-7b-v1": "vicuna-7b",
    "Baichuan2-13b": "baichuan2-13b",
    "GPT-3.5-turbo": "gpt-3.5-turbo",
}
"""Model as Table 9 prints it -> as the exam's rows have it, where they differ."""


@dataclass(frozen=True)
class Printed:
    """The file, by what is asked of it; what the paper lacks is None."""

    raw: Mapping[str, Any]

    def table(self, key: str) -> Any:
        """A table by its key."""
        return self.raw[key]

    def accuracy(self, row: str, dataset: str, form: str) -> float | None:
        """A cell of Table 3."""
        return _number(self.table("accuracy").get(row, {}).get(dataset, {}).get(form))

    def spearman(self, row: str, dataset: str, form: str) -> float | None:
        """A cell of Table 4."""
        return _number(self.table("spearman").get(row, {}).get(dataset, {}).get(form))

    def bias(self, row: str, dataset: str, what: str) -> float | None:
        """A cell of Table 5: accuracy, or rate in per cent."""
        return _number(self.table("bias").get(row, {}).get(dataset, {}).get(what))

    def ablation(self, row: str, dataset: str) -> tuple[float | None, tuple[str, ...] | None]:
        """A cell of Table 6, and the judges that it says passed."""
        cell = self.table("ablation").get(row, {}).get(dataset)
        if cell is None:
            return None, None
        return _number(cell[0]), judges("".join(map(str, cell[1])))

    def pertinence(self, first: str, second: str) -> dict[str, float]:
        """Judge -> P_p of a row of Table 9, models named as the exam's rows do."""
        for row in self.table("pertinence"):
            if (named(row["L1"]), named(row["L2"])) == (first, second):
                return {k: float(v) for k, v in row.items() if k not in ("L1", "L2")}
        return {}


@cache
def read_printed() -> Printed:
    """tables.yaml."""
    return Printed(_loaded(Path(__file__).with_name("tables.yaml")))


@cache
def recipes() -> Mapping[str, Any]:
    """recipes.yaml, beside this folder."""
    return _loaded(Path(__file__).parents[1] / "recipes.yaml")


def _loaded(file: Path) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def cause(table: str, row: str, column: str) -> str | None:
    """Why a printed cell is not what the released data give, where that is known."""
    for miss in recipes()["misses"]:
        if all(
            miss.get(key, value) == value
            for key, value in (("table", table), ("row", row), ("column", column))
        ):
            return str(miss["cause"])
    return None


def settings(dataset: str) -> Mapping[str, Any]:
    """How the authors count on a dataset."""
    made: Mapping[str, Any] = {**recipes()["usual"], **recipes()["datasets"].get(dataset, {})}
    return made


def judges(numbers: str) -> tuple[str, ...]:
    """ "467" -> the names of judges 4, 6 and 7."""
    return tuple(recipes()["judges"][int(number) - 1] for number in numbers)


def numbers(names: object) -> str:
    """The other way round; names that have no number stand as they are."""
    listed = recipes()["judges"]
    given = list(names)  # type: ignore[call-overload]
    if all(name in listed for name in given):
        return "".join(sorted(str(listed.index(name) + 1) for name in given))
    return "+".join(given)


def named(model: str) -> str:
    """A model of Table 9 as the exam's rows call it."""
    return NAMES.get(model, model)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
