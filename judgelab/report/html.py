"""HTML by templates/: every text is escaped by jinja2, drawings are written beside and inlined."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from judgelab.report.figures import caption, draw, title
from judgelab.report.figures.style import INK, MUTED, PAPER, RULE, Tables, saved
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_SVG_ROOT = re.compile(r'<svg[^>]*?(viewBox="[^"]*")[^>]*>', re.DOTALL)
_SVG_NAMES = re.compile(r'(id="|href="#|url\(#)')
_SVG_HIDDEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_COLOURS = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"}


@dataclass(frozen=True)
class Figure:
    """A drawing of a page."""

    name: str
    title: str
    svg: Markup
    caption: str


def page(template: str, **values: Any) -> str:
    """A page of templates/; strings are texts, whatever they hold."""
    return _environment().get_template(template).render(values)


def figures(into: RunDir, names: Iterable[str], tables: Tables) -> list[Figure]:
    """Draw these, and write figures/*.png and *.svg."""
    made = []
    for name in names:
        figure = draw(name, tables)
        into.write_bytes(f"figures/{name}.png", saved(figure, "png"))
        svg = saved(figure, "svg")
        into.write_bytes(f"figures/{name}.svg", svg)
        inline = _inline(name, svg.decode("utf-8"), title(name))
        made.append(Figure(name, title(name), inline, caption(name, tables)))
    return made


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("judgelab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        keep_trailing_newline=True,
    )


def _printable(value: Any) -> Any:
    """A user's text without control characters; markup as it is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(c if c.isprintable() or c == "\n" else " " for c in value)


def _inline(name: str, svg: str, label: str) -> Markup:
    """The drawing without its XML head, its names made unique, its greys made variables."""
    from markupsafe import Markup

    root = _SVG_ROOT.search(svg)
    assert root is not None
    rest = _SVG_NAMES.sub(rf"\g<1>{name}-", _SVG_HIDDEN.sub("", svg[root.end() :]))
    for colour, variable in _COLOURS.items():
        rest = rest.replace(colour, f"var({variable})")
    head = Markup('<svg {} role="img" aria-label="{}">').format(Markup(root[1]), label)
    return head + Markup(rest)
