"""How the loss fell: training and held-out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SERIES = (
    ("training_loss", "training", style.HUES[5], ""),
    ("held_out_loss", "held-out papers", style.INK, "o"),
)


def figure(tables: dict[str, DataFrame]) -> Figure:
    """Both losses against the step."""
    frame = tables["loss_curve"]
    drawn, axes = style.new_figure(3.2)
    side = axes[0, 0]
    for column, label, colour, shape in SERIES:
        if column not in frame or not frame[column].notna().any():
            continue
        known = frame[frame[column].notna()]
        side.plot(
            known["step"], known[column], color=colour, marker=shape, ms=4, lw=1.4, label=label
        )
    side.set_xlabel("Optimizer step")
    side.set_ylabel("Nats per token")
    side.grid(axis="y")
    side.legend(loc="upper right")
    return drawn


def caption(tables: dict[str, DataFrame]) -> str:
    """What the two lines are."""
    frame = tables["loss_curve"]
    held = "over all prompts of held-out papers" if "held_out_loss" in frame else "not measured"
    return (
        "The training loss is a mean over the steps since the point before; the held-out loss is "
        f"{held}. {int(frame['step'].max())} steps."
    )
