"""Figures by name: from the tables of a result alone, so that a page needs no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Tables
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from markupsafe import Markup

_SVG_ROOT = re.compile(r'<svg[^>]*?(viewBox="[^"]*")[^>]*>', re.DOTALL)
_SVG_NAMES = re.compile(r'(id="|href="#|url\(#)')
_SVG_HIDDEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_COLOURS = {style.INK: "ink", style.MUTED: "muted", style.RULE: "rule", style.PAPER: "paper"}


def draw(name: str, tables: Tables, drawings: Mapping[str, Drawing]) -> Drawn:
    """Draw a figure.

    Args:
        name: a key of ``drawings``.
        tables: name -> rows, as judgelab.report.tables.frame makes them.
        drawings: those of the studies, ``Study.drawings``.

    Raises:
        DataError: there is no such drawing, or the tables lack what it shows.
    """
    if name not in drawings:
        raise DataError(
            f"There is no drawing called {name!r}: known are {', '.join(sorted(drawings))}."
        )
    try:
        with style.look():
            return drawings[name](tables)
    except KeyError as cause:
        raise DataError(
            f"The figure {name} needs {cause}, which the result lacks: run again with force=true."
        ) from cause


def write(
    into: RunDir, names: Iterable[str], tables: Tables, drawings: Mapping[str, Drawing]
) -> list[dict[str, Any]]:
    """Draw these, write figures/*.png and *.svg, and return name, title, svg and caption."""
    made = []
    for name in names:
        drawn = draw(name, tables, drawings)
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
