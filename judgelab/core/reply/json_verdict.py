"""A verdict as JSON: the form that is asked for, and its strict reading. Nothing is guessed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from judgelab.core.reply import without_thoughts

KEYS = ("reason", "verdict")
_FENCE = re.compile(r"\s*```(?:json)?[^\S\n]*\n(.*)\n\s*```\s*", re.DOTALL)
_LONGEST = 100_000  # characters of a reply that is parsed


def schema(choices: Mapping[str, float]) -> str:
    """The JSON schema of a reply, as canonical JSON.

    Args:
        choices: allowed verdict -> its value; all are whole numbers, or none is.
    """
    allowed = [json.loads(one) for one in _allowed(choices)]
    verdict = {"type": "string" if isinstance(allowed[0], str) else "integer", "enum": allowed}
    form = {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "verdict": verdict},
        "required": list(KEYS),
        "additionalProperties": False,
    }
    return json.dumps(form)


def spelled(choices: Mapping[str, float]) -> str:
    """The allowed verdicts as they stand in JSON, for a prompt."""
    return ", ".join(_allowed(choices))


def json_verdict(text: str | None, choices: Mapping[str, float]) -> tuple[float, str]:
    """The value of the verdict, and ""; or NaN, and why the reply states none.

    The whole reply, but for thoughts before it and one code fence around it, must be a JSON object
    of ``reason`` and ``verdict``, each once, and the verdict one of the choices.
    """
    answer = (without_thoughts(text or "") or "").strip()
    fenced = _FENCE.fullmatch(answer)
    try:
        found: Any = json.loads(
            (fenced[1] if fenced else answer)[:_LONGEST], object_pairs_hook=_Fields
        )
    except (ValueError, RecursionError):
        return math.nan, "the reply is no JSON"
    if not isinstance(found, _Fields) or sorted(key for key, _ in found) != list(KEYS):
        return math.nan, "the reply is no JSON object of reason and verdict"
    verdict = dict(found)["verdict"]
    if type(verdict) in (str, int) and json.dumps(verdict) in _allowed(choices):
        return choices[str(verdict)], ""
    return math.nan, "the verdict of the JSON is none of the allowed ones"


def _allowed(choices: Mapping[str, float]) -> list[str]:
    """The choices in JSON: numbers where all are whole numbers."""
    numbers = all(re.fullmatch(r"-?\d+", one) for one in choices)
    return list(choices) if numbers else [json.dumps(one) for one in choices]


class _Fields(list[tuple[str, Any]]):
    """The fields of a JSON object, also those that stand twice."""
