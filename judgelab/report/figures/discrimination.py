"""Good faith against problematic agents: effect sizes, every agent's score, position bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SIDES = (
    ("Effect size d", ("effect_size",), 0.0),
    ("AUC", ("auc", "pair_auc"), 0.5),
)
UNITS = {"auc": "agents", "pair_auc": "pairs"}
MOST = 60  # agents in one drawing
SHAPES = {"problematic": "s", "reference": "D"}
SHARES = {
    "first_preferred": "Wins of the text\nshown first",
    "ties": "Ties",
    "orders_agree": "Same verdict\nin both orders",
}
UNCATEGORISED = "no category"


def effects(tables: Tables) -> Figure:
    """Two panels: d against 0, AUC against .5; clean filled, attacked hollow."""
    frame = tables["discrimination"]
    height = 1.3 + 0.55 * frame["panel"].nunique()
    drawn, axes = style.new_figure(height, columns=2, gridspec_kw={"width_ratios": [1, 1.5]})
    for side, (title, statistics, null) in zip(axes[0], SIDES, strict=True):
        rows = [row for s in statistics for row in records(frame[frame["statistic"] == s])]
        for y, row in zip(style.name_rows(side, _units(rows)), rows, strict=True):
            style.interval(side, y, row, Mark(style.INK, hollow=_attacked(row), size=7))
            shown = format.estimate(row["value"], row.get("low"), row.get("high"))
            style.aside(side, y, shown if shown != format.NOTHING else "unscored")
        style.reference_line(side, null)
        side.margins(x=0.12)
        side.set_title(title)
        side.set_xlabel(f"{title}  ({null:g} = uninformative)")
    return drawn


def _effects_caption(tables: Tables) -> str:
    return (
        "Good faith against problematic agents; lines are 95 % intervals over items."
        f"{_filled(tables['discrimination'])} The dashed line is what an uninformative score gives."
    )


def agents(tables: Tables) -> Figure:
    """A dot with interval for each agent, best first; clean filled, attacked hollow and below."""
    frame = tables["agents"]
    names, panels = _shown(frame), list(dict.fromkeys(frame["panel"]))
    drawn, side = style.single(1.1 + (0.14 + 0.06 * len(panels)) * max(len(names), 3))
    hues = _hues(frame)
    rows = {(row["panel"], row["agent"]): row for row in records(frame)}
    for y, name in zip(style.name_rows(side, names, margin=0.7), names, strict=True):
        for place, panel in enumerate(panels):
            row = rows.get((panel, name))
            if row is not None:
                shift = 0.17 - 0.34 * place if len(panels) > 1 else 0.0
                style.interval(side, y + shift, row, _mark(row, hues))
        missing = [p for p in panels if not _scored(rows.get((p, name)))]
        if missing:
            everywhere = len(missing) == len(panels)
            style.unscored(side, y, "unscored" if everywhere else f"{missing[0]}: unscored")
    unit = f" ({frame['unit'].iloc[0]})" if "unit" in frame else ""
    side.set_xlabel(f"Mean score{unit}, 95 % interval over items")
    side.grid(axis="y", lw=0.4, alpha=0.6)
    style.legend(drawn, _entries(frame, hues, panels))
    return drawn


def _agents_caption(tables: Tables) -> str:
    frame = tables["agents"]
    said = "Agents by their mean score on the clean texts; lines are 95 % intervals over items."
    said += _filled(frame)
    if "reference" in set(frame["group"]):
        said += " The diamond is the human reference, which is not tested."
    if left_out := frame["agent"].nunique() - len(_shown(frame)):
        said += f" {left_out} agents in the middle are left out; the table has them."
    return said


def position(tables: Tables) -> Figure:
    """Three shares between 0 and 1, clean filled and attacked hollow."""
    frame = tables["diagnostics"]
    panels = list(dict.fromkeys(frame["panel"]))
    drawn, side = style.single(2.3)
    values = {(r["panel"], r["diagnostic"]): float(r["value"]) for r in records(frame)}
    for y, name in zip((2, 1, 0), SHARES, strict=True):
        for place, panel in enumerate(panels):
            value = values.get((panel, name), float("nan"))
            height = y + (0.2 - 0.4 * place if len(panels) > 1 else 0.0)
            mark = Mark(style.INK, hollow=panel == "attacked", size=7)
            style.interval(side, height, {"value": value}, mark)
            shown = format.number(value) if value == value else "unscored"
            style.aside(side, height, f"{shown} {panel}" if len(panels) > 1 else shown)
    side.plot([0.5, 0.5], [1.6, 2.4], **style.DASHED, zorder=1)
    side.set_yticks((2, 1, 0), list(SHARES.values()))
    side.set_xlim(-0.02, 1.02)
    side.set_ylim(-0.5, 2.5)
    side.set_xlabel("Share of judged pairs")
    side.grid(axis="x")
    return drawn


def _position_caption(tables: Tables) -> str:
    return (
        "Every pair is judged in both orders. Without position bias the text shown first wins "
        f"half of the time (dashed); a tie counts as half a win.{_filled(tables['diagnostics'])}"
    )


def _units(rows: list[dict[str, Any]]) -> list[str]:
    """What sets each row apart: agents or pairs, clean or attacked."""
    several = len({row["panel"] for row in rows}) > 1
    made = []
    for row in rows:
        unit = [UNITS[row["statistic"]]] if row["statistic"] in UNITS else []
        made.append(", ".join([*unit, row["panel"]] if several or not unit else unit))
    return made


def _attacked(row: dict[str, Any]) -> bool:
    return bool(row["panel"] == "attacked")


def _filled(frame: DataFrame) -> str:
    attacked = "attacked" in set(frame["panel"])
    return " Filled: clean texts; hollow: attacked." if attacked else ""


def _shown(frame: DataFrame) -> list[str]:
    names = list(dict.fromkeys(frame["agent"]))
    return names if len(names) <= MOST else [*names[: MOST // 2], *names[-MOST // 2 :]]


def _mark(row: dict[str, Any], hues: dict[str, str]) -> Mark:
    colour = style.INK if row["group"] == "reference" else hues[_category(row)]
    return Mark(colour, SHAPES.get(row["group"], "o"), hollow=_attacked(row), size=5.5)


def _scored(row: dict[str, Any] | None) -> bool:
    return row is not None and row["value"] == row["value"]


def _category(row: dict[str, Any]) -> str:
    name = row.get("category")
    return name if isinstance(name, str) else UNCATEGORISED


def _hues(frame: DataFrame) -> dict[str, str]:
    """A colour for each category: the paper's five are fixed, others take what is left."""
    fixed = {**style.CATEGORIES, UNCATEGORISED: style.CATEGORIES["Other"]}
    names = dict.fromkeys(_category(row) for row in records(frame))
    spare = [hue for hue in style.HUES if hue not in style.CATEGORIES.values()]
    others = [name for name in names if name not in fixed]
    extra = {name: spare[i % len(spare)] for i, name in enumerate(others)}
    return {name: hue for name, hue in fixed.items() if name in names} | extra


def _entries(frame: DataFrame, hues: dict[str, str], panels: list[str]) -> list[Any]:
    """Of the legend: categories, the reference, and both panels."""
    rows = records(frame)
    shapes = {_category(r): SHAPES.get(r["group"], "o") for r in rows if r["group"] != "reference"}
    entries = [
        style.key(Mark(hue, shapes[name]), format.shorten(format.text(name), 24))
        for name, hue in hues.items()
        if name in shapes
    ]
    if any(row["group"] == "reference" for row in rows):
        entries.append(style.key(Mark(style.INK, "D"), "human reference"))
    if len(panels) > 1:
        entries.append(style.key(Mark(style.MUTED), "clean"))
        entries.append(style.key(Mark(style.MUTED, hollow=True), "attacked"))
    return entries


DRAWINGS = {
    "discrimination": Drawing(
        "Good faith against problematic agents", effects, _effects_caption, "discrimination"
    ),
    "agent_scores": Drawing("Score of each agent", agents, _agents_caption, "agents"),
    "position_bias": Drawing("Position bias of the judge", position, _position_caption),
}
