"""What the paper prints, from the release's paper_tables.json, and the recipes behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from judgelab.core.errors import DataError

FILE = "paper_tables.json"
NAMES = {
    "GPT-4": "gpt4",
    "Vicuna-7b-v1": "vicuna-7b",
    "Baichuan2-13b": "baichuan2-13b",
    "GPT-3.5-turbo": "gpt-3.5-turbo",
}
"""Model as Table 9 prints it -> as the exam's rows have it, where they differ."""


@dataclass(frozen=True)
class Printed:
    """The file, by what is asked of it; a table that it lacks prints nothing."""

    raw: Mapping[str, Any]

    def table(self, start: str) -> Any:
        """The table whose key starts so; an empty one where there is none."""
        return next((value for key, value in self.raw.items() if key.startswith(start)), {})

    def accuracy(self, row: str, dataset: str, form: str) -> float | None:
        """A cell of Table 3."""
        return _number(self.table("table3_accuracy").get(row, {}).get(dataset, {}).get(form))

    def spearman(self, row: str, dataset: str, form: str) -> float | None:
        """A cell of Table 4."""
        return _number(self.table("table4_spearman").get(row, {}).get(dataset, {}).get(form))

    def bias(self, row: str, dataset: str, what: str) -> float | None:
        """A cell of Table 5: accuracy, or rate in per cent."""
        return _number(self.table("table5_bias").get(row, {}).get(dataset, {}).get(what))

    def ablation(self, row: str, dataset: str) -> tuple[float | None, tuple[str, ...] | None]:
        """A cell of Table 6, and the judges that it says passed."""
        cell = self.table("table6_ablation").get(row, {}).get(dataset)
        if cell is None:
            return None, None
        return _number(cell[0]), judges("".join(map(str, cell[1])))

    def pertinence(self, first: str, second: str) -> dict[str, float]:
        """Judge -> P_p of a row of Table 9, models named as the exam's rows do."""
        for row in self.table("table9_"):
            if (named(row["L1"]), named(row["L2"])) == (first, second):
                return {k: float(v) for k, v in row.items() if k not in ("L1", "L2")}
        return {}


def read_printed(folder: str | Path) -> Printed:
    """The file, or an empty one where the folder has none: nothing is then compared.

    Raises:
        DataError: it is no JSON.
    """
    path = Path(folder).expanduser() / FILE
    if not path.is_file():
        return Printed({})
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as cause:
        raise DataError(f"{path} is no JSON: fetch it again.") from cause
    return Printed(raw)


@cache
def recipes() -> Mapping[str, Any]:
    """recipes.yaml."""
    text = (Path(__file__).parent / "recipes.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = yaml.safe_load(text)
    return loaded


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
