"""What tokens of a paid model cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from judgelab.core.errors import DataError
from judgelab.core.resources import conf

LIST = conf() / "prices.yaml"
PER = 1_000_000


@dataclass(frozen=True)
class Price:
    """Currency units per million tokens."""

    input: float
    output: float
    currency: str = "USD"

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input + output_tokens * self.output) / PER


def price_of(model: str, file: str | None = None) -> Price | None:
    """The model's price; None where the list has none, which means unknown and never free."""
    path = Path(file) if file else LIST
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        entry = listed["models"].get(model)
        if entry is None or entry["input"] is None or entry["output"] is None:
            return None
        assert isinstance(entry, Mapping)
        return Price(float(entry["input"]), float(entry["output"]), str(listed["currency"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}: {cause}): it needs "
            "currency, and models with input and output per million tokens."
        ) from cause
