"""The words of a study: a jinja2 template beside it, filled from what it found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import listed, some
from judgelab.core.result import Row, Table, read_estimate
from judgelab.report import format
from judgelab.report.style import Drawn, with_n
from judgelab.stats.intervals.estimate import Estimate

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure
    from pandas import DataFrame


def render(package: str, template: str, **values: Any) -> str:
    """A template of a package's folder.

    SVG is escaped: names are texts, whatever they hold.
    """
    return _environment(package).get_template(template).render(values)


def spoken(package: str, template: str, macro: str, *values: Any) -> str:
    """What a macro of a template makes of these values."""
    return str(getattr(_environment(package).get_template(template).module, macro)(*values))


def sentences(package: str, template: str, **values: Any) -> list[str]:
    """The lines of a template, without those that are empty."""
    lines = (" ".join(line.split()) for line in render(package, template, **values).splitlines())
    return [line for line in lines if line]


def paragraphs(package: str, template: str, **values: Any) -> list[tuple[str, str]]:
    """(heading, sentences) of a template whose lines are ``Heading: sentences``."""
    return by_heading(sentences(package, template, **values))


def by_heading(lines: Iterable[str]) -> list[tuple[str, str]]:
    """(heading, sentences) of lines ``Heading: sentences``."""
    return [(heading, text) for heading, _, text in (line.partition(": ") for line in lines)]


def table(package: str, name: str, rows: Sequence[Row], **values: Any) -> Table:
    """A table with the title and the note that ``tables.md.j2`` of the package has for it."""
    title, *note = sentences(package, "tables.md.j2", table=name, **values)
    return Table(name, title, rows, " ".join(note))


def caption(
    package: str,
    name: str,
    figure: Figure,
    rows: DataFrame | None = None,
    what: str = "items",
    **values: Any,
) -> Drawn:
    """A figure with the title and the caption that ``figures.md.j2`` of the package has for it; the
    caption ends with the n of the rows, where they are given."""
    title, *lines = sentences(package, "figures.md.j2", figure=name, **values)
    text = " ".join(lines)
    return Drawn(title, figure, text if rows is None else with_n(text, rows, what))


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(
            list(import_module(package).__path__)
        ),  # a package of the user's too
        autoescape=lambda name: bool(name and name.endswith(".svg.j2")),
        undefined=StrictUndefined,
        bytecode_cache=format.compiled_templates(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"hundredth": hundredth, "listed": listed, "some": some}
    environment.filters |= {"between": between, "estimate": _estimate, "counted": format.counted}
    environment.filters["estimate_of"] = estimate_of
    environment.tests["known"] = math.isfinite
    environment.filters["capfirst"] = lambda text: text[:1].upper() + text[1:]
    return environment


def _estimate(one: Estimate) -> str:
    return format.estimate(one.value, one.low, one.high)


def estimate_of(summary: Mapping[str, Any], key: str) -> Estimate:
    """The estimate that a flat summary has at a key; NaN for what it lacks."""
    one = {k: math.nan if x is None else x for k, x in read_estimate(summary, key).items()}
    return Estimate(one["value"], one["low"], one["high"], int(summary.get(f"{key}_n") or 0))


def between(share: Estimate) -> str:
    """``93 times in 100 (91 to 95)``; without an interval the first alone."""
    times = f"{hundredth(share.value)} times in 100"
    if not math.isfinite(share.low):
        return times
    return f"{times} ({hundredth(share.low)} to {hundredth(share.high)})"


def hundredth(share: float) -> str:
    """A share in hundredths; never ``-0``."""
    if share != share:
        return "an unknown number of"
    hundredths = f"{100 * share:.0f}"
    if hundredths not in ("0", "-0") or abs(share) < 1e-9:
        return "0" if hundredths == "-0" else hundredths
    return f"{100 * share:.1f}" if abs(share) >= 5e-4 else "0"
