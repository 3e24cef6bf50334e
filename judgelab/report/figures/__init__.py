"""Figures by name: from the tables of a result alone, so that a page needs no model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.report.figures import (
    blind_spots,
    curves,
    discernment,
    discrimination,
    judges,
    qualification,
    ranking,
    style,
    sweeps,
    trust,
)
from judgelab.report.figures.style import Drawing, Drawn, Tables
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from markupsafe import Markup

DRAWINGS: dict[str, Drawing] = {
    name: drawing
    for module in (
        discrimination,
        discernment,
        judges,
        qualification,
        ranking,
        curves,
        sweeps,
        trust,
        blind_spots,
    )
    for name, drawing in module.DRAWINGS.items()
}
_SVG_ROOT = re.compile(r'<svg[^>]*?(viewBox="[^"]*")[^>]*>', re.DOTALL)
_SVG_NAMES = re.compile(r'(id="|href="#|url\(#)')
_SVG_HIDDEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_COLOURS = {style.INK: "ink", style.MUTED: "muted", style.RULE: "rule", style.PAPER: "paper"}


def draw(name: str, tables: Tables) -> Drawn:
    """Draw a figure.

    Args:
        name: a key of DRAWINGS.
        tables: name -> rows, as judgelab.report.tables.frame makes them.

    Raises:
        DataError: there is no such drawing, or the tables lack what it shows.
    """
    if name not in DRAWINGS:
        raise DataError(
            f"There is no drawing called {name!r}: known are {', '.join(sorted(DRAWINGS))}."
        )
    try:
        with style.look():
            return DRAWINGS[name](tables)
    except KeyError as cause:
        raise DataError(
            f"The figure {name} needs {cause}, which the result lacks: run again with force=true."
        ) from cause


def write(into: RunDir, names: Iterable[str], tables: Tables) -> list[dict[str, Any]]:
    """Draw these, write figures/*.png and *.svg, and return name, title, svg and caption."""
    made = []
    for name in names:
        drawn = draw(name, tables)
        into.write_bytes(f"figures/{name}.png", style.saved(drawn.figure, "png"))
        svg = style.saved(drawn.figure, "svg")
        into.write_bytes(f"figures/{name}.svg", svg)
        inline = _inline(name, svg.decode("utf-8"), drawn.title)
        made.append({"name": name, "title": drawn.title, "svg": inline, "caption": drawn.caption})
    return made


def _inline(name: str, svg: str, label: str) -> Markup:
    """The drawing without its XML head, its names made unique, its greys made variables."""
    from markupsafe import Markup

    root = _SVG_ROOT.search(svg)
    assert root is not None
    rest = _SVG_NAMES.sub(rf"\g<1>{name}-", _SVG_HIDDEN.sub("", svg[root.end() :]))
    for colour, variable in _COLOURS.items():
        rest = rest.replace(colour, f"var(--{variable})")
    head = Markup('<svg {} role="img" aria-label="{}">').format(Markup(root[1]), label)
    return head + Markup(rest)
