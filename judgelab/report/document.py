"""One HTML file that opens without a network: style, script and drawings are inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from judgelab.report import format
from judgelab.report.figures.style import INK, MUTED, PAPER, RULE
from judgelab.report.look import SCRIPT, STYLE
from judgelab.report.tables import Column

TALL = 40  # rows; a longer table scrolls in a frame of its own

_SVG_ROOT = re.compile(r"<svg.*?>", re.DOTALL)
_SVG_NAMES = re.compile(r'(id="|href="#|url\(#)')
_COLOURS = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"}


def document(title: str, body: Iterable[str]) -> str:
    """A whole page; the title is escaped, the body is HTML."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(format.text(title))}</title>",
            f"<style>{STYLE}</style>",
            "<main>",
            *body,
            "</main>",
            f"<script>{SCRIPT}</script>",
            "</html>\n",
        ]
    )


def tag(name: str, content: str, kind: str = "") -> str:
    """``<name class=kind>content</name>`` with the content escaped."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<{name}{attribute}>{escape(format.text(content))}</{name}>"


def code(content: str, kind: str = "") -> str:
    """Preformatted text; lines are broken only where ``kind`` is "command"."""
    return f'<pre class="{kind}"><code>{escape(content)}</code></pre>'


def details(title: str, content: str) -> str:
    """A part that opens on a click; ``content`` is HTML."""
    return f"<details>{tag('summary', title)}{content}</details>"


def notes(sentences: Iterable[str], kind: str = "") -> str:
    """A box of sentences that a reader must see."""
    said = "".join(tag("p", sentence) for sentence in sentences)
    return f'<div class="notes {kind}">{said}</div>' if said else ""


def table(shown: Sequence[Column], spans: Mapping[int, tuple[int, str]] | None = None) -> str:
    """A sortable table; numbers to the right, in the order given.

    Args:
        shown: the columns.
        spans: row -> (column, words that stand there in place of all cells from it on).
    """
    head = "".join(
        f'<th scope="col"{_numeric(column)}><button>{escape(column.heading)}</button></th>'
        for column in shown
    )
    count = len(shown[0].cells) if shown else 0
    rows = "\n".join(
        f"<tr>{_row(shown, place, (spans or {}).get(place))}</tr>" for place in range(count)
    )
    kind = "scroll tall" if count > TALL else "scroll"
    return (
        f'<div class="{kind}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def drawing(name: str, svg: bytes, title: str, caption: str) -> str:
    """A figure as inline SVG in the page's own colours, so that it follows light and dark."""
    return (
        f'<figure id="{escape(name)}"><div class="plot">{_inline(name, svg, title)}</div>'
        f"{tag('figcaption', caption)}</figure>"
    )


def _row(shown: Sequence[Column], place: int, span: tuple[int, str] | None) -> str:
    cells = []
    for column in shown[: span[0]] if span else shown:
        value = column.sort[place]
        key = "" if value is None else escape(format.text(value))
        cells.append(f'<td{_numeric(column)} data-v="{key}">{_lines(column.cells[place])}</td>')
    if span:
        words = escape(format.text(span[1]))
        cells.append(f'<td class="span" colspan="{len(shown) - span[0]}">{words}</td>')
    return "".join(cells)


def _lines(cell: str) -> str:
    """A cell's first line, and a second one in small."""
    first, _, second = cell.partition("\n")
    return escape(first) + (f"<small>{escape(second)}</small>" if second else "")


def _numeric(column: Column) -> str:
    return ' class="num"' if column.numeric else ""


def _inline(name: str, svg: bytes, title: str) -> str:
    """The drawing without its XML head, its names made unique, its greys made variables."""
    text = svg.decode("utf-8")
    root = _SVG_ROOT.search(text)
    assert root is not None
    size = re.search(r'viewBox="[^"]*"', root[0])
    assert size is not None
    rest = re.sub(r"<metadata>.*?</metadata>", "", text[root.end() :], flags=re.DOTALL)
    rest = _SVG_NAMES.sub(rf"\g<1>{name}-", rest)
    rest = re.sub(r"<!--.*?-->", "", rest, flags=re.DOTALL)
    for colour, variable in _COLOURS.items():
        rest = rest.replace(colour, f"var({variable})")
    return f'<svg {size[0]} role="img" aria-label="{escape(title)}">{rest}'
