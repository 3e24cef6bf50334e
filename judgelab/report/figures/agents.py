"""Mean score of every agent, best first, coloured by category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST = 60  # agents in one drawing
SHAPES = {"problematic": "s", "reference": "D"}


def figure(tables: dict[str, DataFrame]) -> Figure:
    """A dot with interval for each agent; clean filled, attacked hollow and just below."""
    frame = tables["agents"]
    names = _shown(frame)
    panels = list(dict.fromkeys(frame["panel"]))
    row_height = 0.2 + 0.06 * (len(panels) - 1)
    drawn, axes = style.new_figure(1.1 + row_height * max(len(names), 3))
    side: Axes = axes[0, 0]
    hues = _hues(frame)
    rows = {(row["panel"], row["agent"]): row for row in style.records(frame)}
    for y, name in zip(range(len(names))[::-1], names, strict=True):
        for place, panel in enumerate(panels):
            row = rows.get((panel, name))
            if row is not None:
                shift = 0.17 - 0.34 * place if len(panels) > 1 else 0.0
                _agent(side, y + shift, row, hues)
        missing = [p for p in panels if not _scored(rows.get((p, name)))]
        if missing:
            everywhere = len(missing) == len(panels)
            style.unscored(side, y, "unscored" if everywhere else f"{missing[0]}: unscored")
    side.set_yticks(range(len(names))[::-1], [format.shorten(format.text(n), 40) for n in names])
    side.set_ylim(-0.7, len(names) - 0.3)
    unit = f" ({frame['unit'].iloc[0]})" if "unit" in frame else ""
    side.set_xlabel(f"Mean score{unit}, 95 % interval over items")
    side.grid(axis="x")
    side.grid(axis="y", lw=0.4, alpha=0.6)
    _legend(drawn, frame, hues, panels)
    return drawn


def caption(tables: dict[str, DataFrame]) -> str:
    """What colours, shapes and fillings mean, and how many items there were."""
    frame = tables["agents"]
    said = ["Agents by their mean score on the clean texts; lines are 95 % intervals over items."]
    if "attacked" in set(frame["panel"]):
        said.append("Filled: clean texts; hollow: attacked.")
    if "reference" in set(frame["group"]):
        said.append("The diamond is the human reference, which is not tested.")
    left_out = frame["agent"].nunique() - len(_shown(frame))
    if left_out:
        said.append(f"{left_out} agents in the middle are left out; the table has them.")
    return " ".join([*said, f"{style.counted(frame)}."])


def _shown(frame: DataFrame) -> list[str]:
    names = list(dict.fromkeys(frame["agent"]))
    return names if len(names) <= MOST else [*names[: MOST // 2], *names[-MOST // 2 :]]


def _agent(axes: Axes, y: float, row: dict[str, Any], hues: dict[str, str]) -> None:
    shape = SHAPES.get(row["group"], "o")
    colour = style.INK if row["group"] == "reference" else hues[_category(row)]
    mark = style.Mark(colour, shape, hollow=row["panel"] == "attacked", size=5.5)
    style.interval(axes, y, row, mark)


def _scored(row: dict[str, Any] | None) -> bool:
    return row is not None and row["value"] == row["value"]


def _category(row: dict[str, Any]) -> str:
    name = row.get("category")
    return name if isinstance(name, str) else "no category"


def _hues(frame: DataFrame) -> dict[str, str]:
    """A colour for each category: the paper's five are fixed, others take what is left."""
    names = dict.fromkeys(_category(row) for row in style.records(frame))
    spare = [hue for hue in style.HUES if hue not in style.CATEGORIES.values()]
    others = [name for name in names if name not in style.CATEGORIES and name != "no category"]
    fixed = {**style.CATEGORIES, "no category": "#5b5b5b"}
    extra = {name: spare[i % len(spare)] for i, name in enumerate(others)}
    order = [name for name in fixed if name in names]
    return {name: {**fixed, **extra}[name] for name in [*order, *others]}


def _legend(drawn: Figure, frame: DataFrame, hues: dict[str, str], panels: list[str]) -> None:
    rows = style.records(frame)
    shapes = {
        _category(r): SHAPES.get(str(r["group"]), "o") for r in rows if r["group"] != "reference"
    }
    entries = [
        style.key(style.Mark(hues[name], shapes[name]), format.shorten(format.text(name), 24))
        for name in hues
        if name in shapes
    ]
    if any(row["group"] == "reference" for row in rows):
        entries.append(style.key(style.Mark(style.INK, "D"), "human reference"))
    if len(panels) > 1:
        entries.append(style.key(style.Mark(style.MUTED), "clean"))
        entries.append(style.key(style.Mark(style.MUTED, hollow=True), "attacked"))
    style.legend(drawn, entries)
