"""Configs as words of a command line, in Hydra's grammar."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hydra.core.override_parser.types import Quote, QuotedString

_PLAIN = re.compile(r"[A-Za-z_./][\w./@%+-]*", re.ASCII)
_NOT_STRINGS = frozenset({"true", "false", "null", "inf", "nan"})


def differences(
    path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """(key, value) that turn ``before`` into ``after``; '++' marks a key that is new.

    Args:
        path: where both stand in the whole config, '' for its root.
    """
    for key, value in after.items():
        name = f"{path}.{key}" if path else str(key)
        if key not in before:
            yield f"++{name}", value
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            yield from differences(name, before[key], value)
        elif value != before[key]:
            yield name, value


def written(value: Any) -> str:
    """A value as Hydra reads it back, of the same type.

    Within a mapping Hydra's grammar has limits: a key that looks like a number or a truth value is
    read as one, and a key with other signs than letters, digits and spaces may not be read at all.
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_key(k)}:{written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(written(part) for part in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf, nan
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS:
        return value
    # Hydra leaves interpolations in quoted strings to OmegaConf, which would resolve them.
    return str(QuotedString(value, Quote.double).with_quotes()).replace("${", "\\${")


def _key(key: object) -> str:
    """A key within a mapping: Hydra lets it be escaped, but not quoted."""
    return re.sub(r"([\\(){}\[\]:=,\s])", r"\\\1", str(key))
