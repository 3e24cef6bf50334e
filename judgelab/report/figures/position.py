"""Whether a judge prefers the text it is shown first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ROWS = (
    ("first_preferred", "Wins of the text\nshown first"),
    ("ties", "Ties"),
    ("orders_agree", "Same verdict\nin both orders"),
)


def figure(tables: dict[str, DataFrame]) -> Figure:
    """Three shares between 0 and 1, clean filled and attacked hollow."""
    frame = tables["diagnostics"]
    panels = list(dict.fromkeys(frame["panel"]))
    drawn, axes = style.new_figure(2.3)
    side = axes[0, 0]
    values = {(r["panel"], r["diagnostic"]): float(r["value"]) for r in style.records(frame)}
    for y, (name, _) in zip((2, 1, 0), ROWS, strict=True):
        for place, panel in enumerate(panels):
            value = values.get((panel, name), float("nan"))
            height = y + (0.2 - 0.4 * place if len(panels) > 1 else 0.0)
            if value == value:
                mark = style.Mark(style.INK, hollow=panel == "attacked", size=7)
                style.interval(side, height, {"value": value}, mark)
            shown = format.number(value) if value == value else "unscored"
            at = (1.02, height)
            side.text(
                *at,
                f"{shown} {panel}" if len(panels) > 1 else shown,
                va="center",
                fontsize=8.5,
                color=style.MUTED,
                transform=side.get_yaxis_transform(),
            )
    side.plot([0.5, 0.5], [1.6, 2.4], color=style.MUTED, lw=1, ls=(0, (4, 3)), zorder=1)
    side.set_yticks((2, 1, 0), [label for _, label in ROWS])
    side.set_xlim(-0.02, 1.02)
    side.set_ylim(-0.5, 2.5)
    side.set_xlabel("Share of judged pairs")
    side.grid(axis="x")
    return drawn


def caption(tables: dict[str, DataFrame]) -> str:
    """How to read the three shares."""
    attacked = "attacked" in set(tables["diagnostics"]["panel"])
    said = " Filled: clean texts; hollow: attacked." if attacked else ""
    return (
        "Every pair is judged in both orders. Without position bias the text shown first wins "
        f"half of the time (dashed); a tie counts as half a win.{said}"
    )
