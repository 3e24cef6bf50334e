"""Units, dates, times and words as readers in the United States expect them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from judgelab.agents.strategies.lexicon.registers import AMERICAN

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_VALUE = r"(?<![\w.,])(\d{1,9}(?:,\d{3})*(?:\.\d{1,6})?)"


def _scaled(factor: float, offset: float = 0.0) -> Callable[[str], str]:
    def convert(value: str) -> str:
        result = float(value.replace(",", "")) * factor + offset
        return f"{result:,.0f}" if abs(result) >= 10 else f"{result:.1f}"

    return convert


_UNITS: tuple[tuple[re.Pattern[str], Callable[[str], str], str], ...] = tuple(
    (re.compile(rf"{_VALUE}[ -]?(?:{unit})\b"), convert, name)
    for unit, convert, name in (
        ("km/h", _scaled(0.621371), "mph"),
        ("kilomet(?:re|er)s?|km", _scaled(0.621371), "miles"),
        ("centimet(?:re|er)s?|cm", _scaled(0.393701), "inches"),
        ("met(?:re|er)s?|m", _scaled(3.28084), "feet"),
        ("kilograms?|kilos?|kg", _scaled(2.20462), "pounds"),
        ("grams?|g", _scaled(0.035274), "ounces"),
        ("lit(?:re|er)s?|l", _scaled(0.264172), "gallons"),
        ("hectares?|ha", _scaled(2.47105), "acres"),
        ("degrees Celsius|degrees centigrade|°C", _scaled(1.8, 32.0), "degrees Fahrenheit"),
    )
)
_DATE = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})\b")
_CLOCK = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b(?!\s?[ap]\.?m)")


def americanise(text: str, rng: np.random.Generator) -> str:
    """Convert metric units, put the month first, use a twelve-hour clock and American words."""
    for pattern, convert, unit in _UNITS:
        text = pattern.sub(_with_unit(convert, unit), text)
    text = _DATE.sub(r"\2 \1", text)
    text = re.sub(r"€\s?(?=\d)", "$", text)
    return AMERICAN.rewrite(_CLOCK.sub(_twelve_hours, text), rng)


def _with_unit(convert: Callable[[str], str], unit: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{convert(match.group(1))} {unit}"


def _twelve_hours(match: re.Match[str]) -> str:
    hour, minute = int(match.group(1)), match.group(2)
    return f"{hour % 12 or 12}:{minute} {'a.m.' if hour < 12 else 'p.m.'}"
