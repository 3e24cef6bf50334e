"""Which model answered, beside the one that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judgelab.core.errors import some

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


def change(role: str, answered: Mapping[str, int], fingerprints: Iterable[str]) -> str | None:
    """A sentence where the model, or what it runs on, changed during the run."""
    if len(answered) > 1:
        return f"{role}: answers name several models: {_listed(answered)}."
    several = dict.fromkeys(fingerprints, 0)  # of attempts, which an interruption makes more
    if len(several) > 1:
        return f"{role}: answers name several system fingerprints: {_listed(several)}."
    return None


def _plain(name: str) -> tuple[str, str]:
    """Name and tag: ``meta-llama/Llama-3-8B:free`` is ("llama-3-8b", "free")."""
    base = re.split(r"[/\\]", name.strip().rstrip("/\\").lower())[-1].removesuffix(".gguf")
    plain, _, tag = base.partition(":")
    return plain, "" if tag == "latest" else tag


def _listed(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return some([f"{name} ({n:,})" if n else name for name, n in ordered], 5)
