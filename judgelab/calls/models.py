"""A paid model by its name: what its tokens cost, and whether another one answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from judgelab.core.errors import DataError, some
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


VERSION = re.compile(r"[-@](\d{3,}(-\d+)*|latest|v\d+|(preview|exp)(-\d+)*)")
"""What a name ends with that is a version of the same model: ``-2024-07-18``, ``-0613``."""


def alike(asked: str, answered: str) -> bool:
    """Whether both names mean one model: a version, a tag, a path or an organisation may differ."""
    (one, tag), (other, given) = _plain(asked), _plain(answered)
    if tag and given and tag != given:
        return False
    one = re.sub("-latest$", "", one)
    return other == one or (
        other.startswith(one) and VERSION.fullmatch(other[len(one) :]) is not None
    )


def warning(role: str, asked: str, answered: Mapping[str, int]) -> str | None:
    """A sentence where another model answered than was asked for; None where none did."""
    others = {name: n for name, n in answered.items() if not alike(asked, name)}
    if not others:
        return None
    said = f"{role}: another model answered than {asked}, which was asked for: {_listed(others)}"
    if not (calls := sum(answered.values())):
        return f"{said}."
    return f"{said}; {sum(others.values()):,} of {calls:,} answers that name one."


def change(role: str, answered: Mapping[str, int]) -> str | None:
    """A sentence where the model changed during the run."""
    several = len(answered) > 1
    return f"{role}: answers name several models: {_listed(answered)}." if several else None


def _plain(name: str) -> tuple[str, str]:
    """Name and tag: ``meta-llama/Llama-3-8B:free`` is ("llama-3-8b", "free")."""
    base = re.split(r"[/\\]", name.strip().rstrip("/\\").lower())[-1].removesuffix(".gguf")
    plain, _, tag = base.partition(":")
    return plain, "" if tag == "latest" else tag


def _listed(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return some([f"{name} ({n:,})" if n else name for name, n in ordered], 5)
