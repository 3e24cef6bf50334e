"""Drawings by name: from the tables of a result alone, so that a page needs no model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgelab.core.errors import DataError
from judgelab.report.figures import (
    agents,
    discernment,
    discrimination,
    judges,
    leaderboard,
    position,
    qualification,
    ranking,
    ranking_curves,
    sweeps,
    training,
    validation,
)
from judgelab.report.figures.style import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Tables = dict[str, "DataFrame"]


@dataclass(frozen=True)
class Drawing:
    """A title, how to draw it, and how to read it."""

    title: str
    figure: Callable[[Tables], Figure]
    caption: Callable[[Tables], str]


DRAWINGS = {
    "discernment_radar": Drawing(
        "What the judge discerns", discernment.radar, discernment.radar_caption
    ),
    "discernment_bars": Drawing("Discernment", discernment.bars, discernment.bars_caption),
    "discernment_judges": Drawing("Judges by discernment", judges.board, judges.board_caption),
    "response_styles": Drawing("Response style", discernment.styles, discernment.styles_caption),
    "discrimination": Drawing(
        "Good faith against problematic agents", discrimination.figure, discrimination.caption
    ),
    "agent_scores": Drawing("Score of each agent", agents.figure, agents.caption),
    "position_bias": Drawing("Position bias of the judge", position.figure, position.caption),
    "effect_sizes_by_mechanism": Drawing(
        "Effect sizes, clean and attacked", sweeps.effect_sizes, sweeps.caption
    ),
    "auc_under_attack": Drawing("AUC, clean and attacked", sweeps.auc, sweeps.caption),
    "loss_curve": Drawing("Loss during training", training.figure, training.caption),
    "leaderboard": Drawing("Leaderboard", leaderboard.board, leaderboard.board_caption),
    "size": Drawing("Score against size", leaderboard.size, leaderboard.size_caption),
    "score_change": Drawing(
        "Change of the score under the attack", validation.change, validation.change_caption
    ),
    "qualification_exams": Drawing("Exams", qualification.exams, qualification.exams_caption),
    "qualification_pools": Drawing(
        "Judges and pools", qualification.pools, qualification.pools_caption
    ),
    "qualification_cost": Drawing(
        "Cost against accuracy", qualification.cost, qualification.cost_caption
    ),
    "metrics_by_attacks": Drawing(
        "Metrics by attacks", validation.crossed, validation.crossed_caption
    ),
    "ranking_systems": Drawing(
        "Ranking and its confidence", ranking.systems, ranking.systems_caption
    ),
    "ranking_observed": Drawing(
        "Simulated and observed", ranking.observed, ranking.observed_caption
    ),
    "ranking_calibration": Drawing(
        "Calibration on held-out pairs", ranking.calibration, ranking.calibration_caption
    ),
    "ranking_by_items": Drawing(
        "Confidence by number of items", ranking_curves.by_items, ranking_curves.by_items_caption
    ),
    "ranking_by_correlation": Drawing(
        "Confidence by correlation",
        ranking_curves.by_correlation,
        ranking_curves.by_correlation_caption,
    ),
    "ranking_trade_off": Drawing(
        "Items against correlation", ranking_curves.trade_off, ranking_curves.trade_off_caption
    ),
    "ranking_noise": Drawing(
        "Noise and correlation", ranking_curves.noise, ranking_curves.noise_caption
    ),
    "ranking_plan": Drawing(
        "Confidence by number of items", ranking_curves.plan, ranking_curves.plan_caption
    ),
}


def draw(name: str, tables: Tables) -> Figure:
    """Draw a figure.

    Args:
        name: a key of DRAWINGS.
        tables: name -> rows, as judgelab.report.tables.frame makes them.

    Raises:
        DataError: there is no such drawing, or the tables lack what it shows.
    """
    drawing = _drawing(name)
    try:
        with look():
            return drawing.figure(tables)
    except KeyError as cause:
        raise DataError(
            f"The figure {name} needs {cause}, which the result lacks: run again with force=true."
        ) from cause


def caption(name: str, tables: Tables) -> str:
    """One or two sentences: what the marks mean, and n."""
    return _drawing(name).caption(tables)


def title(name: str) -> str:
    """The heading of a drawing."""
    return _drawing(name).title


def _drawing(name: str) -> Drawing:
    if name not in DRAWINGS:
        raise DataError(
            f"There is no drawing called {name!r}: known are {', '.join(sorted(DRAWINGS))}."
        )
    return DRAWINGS[name]
