"""How numbers, names and pages are written: on the console and on the page alike."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from judgelab.core import resources

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

NOTHING = "–"


def number(value: object) -> str:
    """Three significant digits; whole numbers stay whole, "–" stands for not known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if not isinstance(value, float) or not math.isfinite(value):
        return NOTHING
    if value == int(value) and abs(value) >= 1000:
        return number(int(value))
    return _fixed(value, _decimals(value))


def estimate(value: object, low: object, high: object) -> str:
    """``0.632 [0.583, 0.684]``: three parts with the same number of decimals."""
    centre = _real(value)
    if centre is None:
        return NOTHING
    ends = [end for end in (_real(low), _real(high)) if end is not None]
    if len(ends) < 2:
        return number(value)
    if isinstance(value, int) and isinstance(low, int) and isinstance(high, int):
        return f"{number(value)} [{number(low)}, {number(high)}]"
    decimals = _decimals(max(abs(part) for part in (centre, *ends)))
    shown = [_fixed(part, decimals) for part in (centre, *ends)]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def p_value(value: object) -> str:
    """``.024``, or ``<.001`` where three decimals would show nothing."""
    p = _real(value)
    if p is None:
        return NOTHING
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


@cache
def _names() -> Mapping[str, Mapping[str, str]]:
    names: Mapping[str, Mapping[str, str]] = resources.words("report/words/names.yaml")
    return names


def words(name: str) -> str:
    """A key as a reader would say it: ``clean/pair_auc`` is "clean pair AUC"."""
    phrases, capitals = _names()["phrases"], _names()["capitals"]
    name = "/".join(phrases.get(part, part) for part in name.split("/"))
    parts = name.replace("/", " ").replace("_", " ").split()
    return " ".join(capitals.get(part.lower(), part) for part in parts)


def text(value: object) -> str:
    """One line without control characters, whatever a user's names and messages hold."""
    if value is None:
        return NOTHING
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def shorten(value: str, length: int) -> str:
    """At most ``length`` characters, the last an ellipsis if something was cut."""
    return value if len(value) <= length else value[: length - 1].rstrip() + "…"


def counted(n: int, thing: str = "item") -> str:
    """``1 item``, ``30 items``."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _real(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _decimals(value: float) -> int:
    """Decimals that leave three significant digits; 1 counts as 0.999 would."""
    return min(max(3 - math.ceil(math.log10(abs(value))), 0), 12) if value else 2


def _fixed(value: float, decimals: int) -> str:
    """Fixed-point; a number too small to be read that way is less than .0001."""
    if decimals > 6:
        return "<.0001" if value > 0 else ">-.0001"
    shown = f"{value:.{decimals}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def render(template: str, **values: Any) -> str:
    """A page of templates/; strings are texts, whatever they hold."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("judgelab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        keep_trailing_newline=True,
        bytecode_cache=compiled_templates(),
    )


def compiled_templates() -> BytecodeCache | None:
    """Where jinja2 keeps what it compiles, a tenth of a short run: beside Python's own files.

    None where Python writes none: the folder is another user's, or that is switched off.
    """
    from jinja2 import FileSystemBytecodeCache

    folder = resources.PACKAGE / "__pycache__"
    kept = os.access(folder, os.W_OK) and not sys.dont_write_bytecode
    return FileSystemBytecodeCache(str(folder)) if kept else None


def _printable(value: Any) -> Any:
    """A user's text without control characters; markup as it is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(c if c.isprintable() or c == "\n" else " " for c in value)
