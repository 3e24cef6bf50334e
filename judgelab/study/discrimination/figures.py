"""Good faith against problematic agents: effect sizes, and the score of every agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from pandas import DataFrame

SIDES = (
    ("Effect size d", ("effect_size",), 0.0),
    ("AUC", ("auc", "pair_auc"), 0.5),
)
UNITS = {"auc": "agents", "pair_auc": "pairs"}
MOST = 60  # agents in one drawing
SHAPES = {"problematic": "s", "reference": "D"}
UNCATEGORISED = "no category"


def effects(tables: Tables) -> Drawn:
    """Two panels: d against 0, AUC against .5; clean filled, attacked hollow."""
    frame = tables["discrimination"]
    height = 1.3 + 0.55 * frame["panel"].nunique()
    figure, axes = style.new_figure(height, columns=2, gridspec_kw={"width_ratios": [1, 1.5]})
    for side, (title, statistics, null) in zip(axes[0], SIDES, strict=True):
        rows = [row for s in statistics for row in records(frame[frame["statistic"] == s])]
        for y, row in zip(style.name_rows(side, _units(rows)), rows, strict=True):
            style.interval(side, y, row, Mark(style.INK, hollow=row["panel"] == "attacked", size=7))
            shown = format.estimate(row["value"], row.get("low"), row.get("high"))
            style.aside(side, y, shown if shown != format.NOTHING else "unscored")
        style.reference_line(side, null)
        side.margins(x=0.12)
        side.set(title=title, xlabel=f"{title}  ({null:g} = uninformative)")
    said = (
        "Good faith against problematic agents; lines are 95 % intervals over items."
        f"{_filled(frame)} The dashed line is what an uninformative score gives."
    )
    return Drawn("Good faith against problematic agents", figure, style.with_n(said, frame))


def agents(tables: Tables) -> Drawn:
    """A dot with interval for each agent, best first; clean filled, attacked hollow and below."""
    frame = tables["agents"]
    frame = frame.reindex(columns=list(dict.fromkeys([*frame, "category"])))
    frame = frame.assign(category=frame["category"].astype(object).fillna(UNCATEGORISED))
    names, panels = list(dict.fromkeys(frame["agent"])), list(dict.fromkeys(frame["panel"]))
    shown = names if len(names) <= MOST else [*names[: MOST // 2], *names[-MOST // 2 :]]
    figure, side = style.single(1.1 + (0.14 + 0.06 * len(panels)) * max(len(shown), 3))
    hues = _hues(frame)
    rows = {(row["panel"], row["agent"]): row for row in records(frame)}
    for y, name in zip(style.name_rows(side, shown, margin=0.7), shown, strict=True):
        missing = []
        for panel, shift in _shifts(panels, 0.17):
            row = rows.get((panel, name))
            if row is None or not style.interval(side, y + shift, row, _mark(row, hues)):
                missing.append(panel)
        if missing:
            everywhere = len(missing) == len(panels)
            style.unscored(side, y, "unscored" if everywhere else f"{missing[0]}: unscored")
    unit = f" ({frame['unit'].iloc[0]})" if "unit" in frame else ""
    side.set_xlabel(f"Mean score{unit}, 95 % interval over items")
    side.grid(axis="y", lw=0.4, alpha=0.6)
    style.legend(figure, _entries(frame, hues, panels))
    said = "Agents by their mean score on the clean texts; lines are 95 % intervals over items."
    said += _filled(frame)
    if "reference" in set(frame["group"]):
        said += " The diamond is the human reference, which is not tested."
    if left_out := len(names) - len(shown):
        said += f" {left_out} agents in the middle are left out; the table has them."
    return Drawn("Score of each agent", figure, style.with_n(said, frame))


def _shifts(panels: list[str], by: float) -> list[tuple[str, float]]:
    """Each panel and how far above its row it is drawn: the second of two lies below the first."""
    return [(panel, by - 2 * by * k if len(panels) > 1 else 0.0) for k, panel in enumerate(panels)]


def _units(rows: list[dict[str, Any]]) -> list[str]:
    """What sets each row apart: agents or pairs, clean or attacked."""
    several = len({row["panel"] for row in rows}) > 1
    made = []
    for row in rows:
        unit = [UNITS[row["statistic"]]] if row["statistic"] in UNITS else []
        made.append(", ".join([*unit, row["panel"]] if several or not unit else unit))
    return made


def _filled(frame: DataFrame) -> str:
    attacked = "attacked" in set(frame["panel"])
    return " Filled: clean texts; hollow: attacked." if attacked else ""


def _mark(row: dict[str, Any], hues: dict[str, str]) -> Mark:
    colour = style.INK if row["group"] == "reference" else hues[row["category"]]
    return Mark(colour, SHAPES.get(row["group"], "o"), hollow=row["panel"] == "attacked", size=5.5)


def _hues(frame: DataFrame) -> dict[str, str]:
    """A colour for each category: the paper's five are fixed, others take what is left."""
    fixed = {**style.CATEGORIES, UNCATEGORISED: style.CATEGORIES["Other"]}
    names = list(dict.fromkeys(frame["category"]))
    spare = [hue for hue in style.HUES if hue not in style.CATEGORIES.values()]
    others = [name for name in names if name not in fixed]
    extra = {name: spare[i % len(spare)] for i, name in enumerate(others)}
    return {name: hue for name, hue in fixed.items() if name in names} | extra


def _entries(frame: DataFrame, hues: dict[str, str], panels: list[str]) -> list[Any]:
    """Of the legend: categories, the reference, and both panels."""
    tested = frame[frame["group"] != "reference"]
    shapes = {r["category"]: SHAPES.get(r["group"], "o") for r in records(tested)}
    entries = [
        style.key(Mark(hue, shapes[name]), format.shorten(format.text(name), 24))
        for name, hue in hues.items()
        if name in shapes
    ]
    if len(tested) < len(frame):
        entries.append(style.key(Mark(style.INK, "D"), "human reference"))
    if len(panels) > 1:
        entries.append(style.key(Mark(style.MUTED), "clean"))
        entries.append(style.key(Mark(style.MUTED, hollow=True), "attacked"))
    return entries


DRAWINGS: dict[str, Drawing] = {
    "discrimination": effects,
    "agent_scores": agents,
}
