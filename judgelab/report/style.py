"""Figures by name, drawn from the tables of a result alone, so that a page needs no model; and one
look for all: colours that colour-blind readers can tell apart."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.report import format
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

Tables = dict[str, "DataFrame"]
Drawing = Callable[[Tables], "Drawn"]

# neutral colours; a page may replace them to suit a dark background
INK, MUTED, RULE, PAPER = "#1f2328", "#656d76", "#d0d7de", "#ffffff"
# Okabe and Ito's palette (its yellow and black replaced), in the order they are handed out
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#5b5b5b")
CATEGORIES = {"Faithful": HUES[0], "Style": HUES[5], "Strategic": HUES[1], "Low Effort": HUES[4]}
CATEGORIES |= {"Other": HUES[7]}
WIDTH = 8.0  # inches
DPI = 160  # dots per inch of a png
TICKS = "{x:,.12g}"  # of a logarithmic axis, written out: 100,000
_SHEET = Path(__file__).with_name("judgelab.mplstyle")
_ENDS: Any = {"solid_capstyle": "butt"}  # an interval ends where its line ends
_ROW: Any = ("axes fraction", "data")
DASHED: Any = {"color": MUTED, "lw": 1, "ls": (0, (4, 3))}


@dataclass(frozen=True)
class Drawn:
    """A figure with its heading and one or two sentences on how to read it."""

    title: str
    figure: Figure
    caption: str

    def _repr_png_(self) -> bytes:
        """For notebooks."""
        return image_bytes(self.figure, "png")


@dataclass(frozen=True)
class Mark:
    """How a point looks; hollow marks are for attacked panels."""

    colour: str
    shape: str = "o"
    hollow: bool = False
    size: float = 6.0


_ONE = RLock()  # matplotlib's settings are those of the process: threads draw one after the other


@contextmanager
def look() -> Iterator[None]:
    """The look; every figure is made and saved inside it."""
    import matplotlib as mpl

    with _ONE, mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_SHEET, use_default_template=False))
        # a name in a script that the font lacks is drawn as boxes: no reason to alarm anyone
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def draw(name: str, tables: Tables, drawings: Mapping[str, Drawing]) -> Drawn:
    """The figure of that name among ``drawings`` of the studies, from tables by name (DataError:
    there is no such drawing)."""
    if name not in drawings:
        raise DataError(
            f"There is no drawing called {name!r}: known are {', '.join(sorted(drawings))}."
        )
    with look():
        return drawings[name](tables)


def write(
    into: RunDir, names: Iterable[str], tables: Tables, drawings: Mapping[str, Drawing]
) -> dict[str, dict[str, Any]]:
    """Draw these, write figures/*.png and *.svg; by name what a page shows of each."""
    pictures = {}
    for name in names:
        drawing = draw(name, tables, drawings)
        into.write_bytes(f"figures/{name}.png", image_bytes(drawing.figure, "png"))
        svg = image_bytes(drawing.figure, "svg")
        into.write_bytes(f"figures/{name}.svg", svg)
        about = {"name": name, "title": drawing.title, "caption": drawing.caption}
        pictures[name] = about | {"svg": _inline(name, svg.decode("utf-8"), drawing.title)}
    return pictures


def _inline(name: str, svg: str, label: str) -> Markup:
    """The drawing without its XML head, its names made unique, its greys made variables."""
    from markupsafe import Markup

    root = re.search(r'<svg[^>]*?(viewBox="[^"]*")[^>]*>', svg)
    assert root is not None
    rest = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[root.end() :], flags=re.DOTALL)
    rest = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", rest)
    for colour, variable in ((INK, "ink"), (MUTED, "muted"), (RULE, "rule"), (PAPER, "paper")):
        rest = rest.replace(colour, f"var(--{variable})")
    head = Markup('<svg {} role="img" aria-label="{}">').format(Markup(root[1]), label)
    return head + Markup(rest)


def new_figure(height: float, columns: int = 1, rows: int = 1, **grid: Any) -> tuple[Figure, Any]:
    """A figure of the common width and its axes [rows, columns], without pyplot's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, **grid)
    return figure, axes


def image_bytes(figure: Figure, kind: str) -> bytes:
    """The figure as png or svg; the same figure gives the same bytes."""
    metadata: Any = dict.fromkeys(("Software",) if kind == "png" else ("Date", "Creator", "Format"))
    buffer = io.BytesIO()
    with look():
        # settled once; savefig would draw everything twice for it
        if (engine := figure.get_layout_engine()) is not None:
            figure.set_dpi(DPI)
            engine.execute(figure)
            figure.set_layout_engine(None)
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def single(height: float, **grid: Any) -> tuple[Figure, Any]:
    """A figure with one pair of axes."""
    figure, axes = new_figure(height, **grid)
    return figure, axes[0, 0]


def multiples(names: Sequence[str], first: float, each: float, **grid: Any) -> tuple[Figure, Any]:
    """A figure with axes for each name, three beside each other, ``each`` inches high."""
    across = min(3, len(names))
    down = -(-len(names) // across)
    figure, axes = new_figure(first + each * down, across, down, **grid)
    for side in axes.flat[len(names) :]:
        side.set_axis_off()
    return figure, axes


def interval(
    axes: Axes, place: float, row: Mapping[str, Any], mark: Mark, *, upright: bool = False
) -> bool:
    """A point with its interval at height ``place``; of an upright one, whose values are heights,
    where it stands. Returns False, and draws nothing, where there is no value (NaN, None)."""
    parts = (row.get(part) for part in ("value", "low", "high"))
    value, low, high = (math.nan if part is None else float(part) for part in parts)
    way = -1 if upright else 1
    if not math.isnan(value + low + high):
        line = ([low, high], [place, place])[::way]
        axes.plot(*line, color=mark.colour, lw=1.4, alpha=0.75, zorder=2, **_ENDS)
    if not math.isnan(value):
        axes.plot(*([value], [place])[::way], **_looks(mark), zorder=3)
    return not math.isnan(value)


def unscored(axes: Axes, y: float, label: str = "unscored") -> None:
    """Words in the place of a point that is not known."""
    axes.annotate(label, (0.01, y), xycoords=_ROW, va="center", fontsize=8, color=MUTED)


def aside(axes: Axes, y: float, words: str) -> None:
    """Words right of the axes at height ``y``."""
    offset: Any = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(words, (1.0, y), xycoords=_ROW, **offset, fontsize=8.5, color=MUTED)


def label_points(
    figure: Figure, axes: Axes, points: Sequence[tuple[float, float, object]], longest: int = 40
) -> None:
    """Names beside ``points`` (x, y, name), each at the nearest place where it covers no other name
    or point. Call it last: axes and legend must not change afterwards."""
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    point = figure.dpi / 72  # pixels of a typographic point
    spots = [axes.transData.transform(place[:2]) for place in points]
    boxes = [Bbox.from_bounds(x - 4 * point, y - 4 * point, *[8 * point] * 2) for x, y in spots]
    for (x, y), place in sorted(zip(spots, points, strict=True), key=lambda one: -one[0][1]):
        words = format.shorten(format.text(place[2]), longest)
        wide = 4.4 * len(words)
        for k in range(60):
            right, dy = k % 2 == 0, 10.0 * ((k + 2) // 4) * (1 if k % 4 < 2 else -1)
            dx = 7 if right else -7
            bounds = x + (dx - (not right) * wide) * point, y + (dy - 5) * point
            box = Bbox.from_bounds(*bounds, wide * point, 10 * point)
            inside = axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1
            if inside and not box.count_overlaps(boxes):
                break
        boxes.append(box)
        offset: Any = {"xytext": (dx, dy), "textcoords": "offset points", "va": "center"}
        if dy:
            offset["arrowprops"] = {"arrowstyle": "-", "color": RULE, "lw": 0.7}
        side = "left" if right else "right"
        axes.annotate(words, place[:2], **offset, ha=side, fontsize=8, color=MUTED, zorder=4)


def name_rows(
    axes: Axes, names: Iterable[object], longest: int = 40, margin: float = 0.6
) -> Sequence[int]:
    """A row for each name, the first on top, over vertical rules; returns their heights."""
    labels = [format.shorten(format.text(name), longest) for name in names]
    heights = range(len(labels))[::-1]
    axes.set_yticks(heights, labels)
    axes.set_ylim(-margin, len(labels) - 1 + margin)
    axes.grid(axis="x")
    return heights


def reference_line(axes: Axes, x: float) -> None:
    """A dashed line at the value that means nothing was found."""
    axes.axvline(x, **DASHED, zorder=1)


def key(mark: Mark, label: str) -> Any:
    """A legend entry for a mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", label=label, **_looks(mark))


def _looks(mark: Mark) -> dict[str, Any]:
    face = PAPER if mark.hollow else mark.colour
    return {"marker": mark.shape, "ms": mark.size, "mfc": face, "mec": mark.colour}


def line(colour: str, dashes: str, label: str) -> Any:
    """A legend entry for a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, ls=dashes, lw=1.6, label=label)


def legend(figure: Figure, entries: list[Any]) -> None:
    """A legend above the axes, in as few rows as the width allows."""
    longest = max(len(str(entry.get_label())) for entry in entries)
    columns = max(1, int((WIDTH - 0.2) / (0.5 + 0.078 * longest)))
    rows = -(-len(entries) // columns)
    figure.legend(handles=entries, loc="outside upper left", ncols=-(-len(entries) // rows))


def with_n(caption: str, frame: DataFrame, what: str = "items") -> str:
    """A caption that ends with ``n = 132 items, 68 unscored``, where n is known; a range where rows
    differ."""
    numbers = frame["n"].dropna().astype(int) if "n" in frame else ()
    if not len(numbers):
        return caption
    low, high = min(numbers), max(numbers)
    n, most = (f"{low}", "") if low == high else (f"{low} to {high}", "up to ")
    lacking = int(frame["unscored"].max()) if "unscored" in frame else 0
    rest = f", {most}{lacking} unscored." if lacking else "."
    return f"{caption} n\u00a0=\u00a0{n} {what}{rest}"
