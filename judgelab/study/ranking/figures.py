"""Systems in their order, how sure it is, and how that was tested on held-out people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records
from judgelab.study.ranking import curves

if TYPE_CHECKING:
    pass

MACHINE = Mark(style.HUES[0])
OBSERVED = {
    "unpaired": (MACHINE, "observed, each system on its own items"),
    "paired": (Mark(style.HUES[1], "D", hollow=True), "observed, both on the same items"),
}
MODELS = {
    "algorithm_1": ("Algorithm 1", style.HUES[7], "-"),
    "bias": ("with the bias between systems", style.HUES[3], "--"),
    "line": ("with bias and slope of the means", style.HUES[2], ":"),
}


def systems(tables: Tables) -> Drawn:
    """Mean score of each system, best on top, and how sure it is above the next (figure 1).

    Sure is said of people's order where it is known, else of the metric's own.
    """
    frame = tables["systems"]
    people = "above_next_people" in frame
    figure, side = style.single(0.9 + 0.3 * len(frame))
    for y, row in zip(style.name_rows(side, frame["system"]), records(frame), strict=True):
        if not style.interval(side, y, row, MACHINE):
            style.unscored(side, y)
        sure = row.get("above_next_people" if people else "above_next_same_metric", float("nan"))
        if sure == sure:
            style.aside(side, y - 0.5, f"{sure:.2f}")
    side.set_xlabel("Mean metric score; right: confidence in the order of neighbours")
    said = (
        "Lines are 95 % intervals over items. Between two neighbours: the confidence that "
        f"{'people have' if people else 'the metric keeps'} them in this order."
    )
    return Drawn("Ranking and its confidence", figure, style.with_n(said, frame))


def observed(tables: Tables) -> Drawn:
    """Bootstrap shares in buckets of the true difference, and what was predicted (figure 5)."""
    frame = tables["observed"]
    figure, side = style.single(3.8)
    entries = []
    unpaired = frame[frame["items"] == "unpaired"]
    for model, (name, colour, dashes) in MODELS.items():
        side.plot(unpaired["delta"], unpaired[model], color=colour, ls=dashes, lw=1.5)
        entries.append(style.line(colour, dashes, name))
    for items, (mark, name) in OBSERVED.items():
        for row in records(frame[frame["items"] == items]):
            style.interval(side, row["delta"], row, mark, upright=True)
        entries.append(style.key(mark, name))
    side.axhline(0.5, **style.DASHED)
    side.set(xlabel="Difference of the systems' human means", ylabel="Ranked right")
    side.grid(axis="y")
    style.legend(figure, entries)
    said = (
        "Points: share of resamples in which the metric ranks a pair as people do, averaged over "
        "pairs of similar difference, with 95 % intervals over systems. Lines: predicted for the "
        f"same pairs without looking at them. {int(unpaired['n'].sum())} pairs."
    )
    return Drawn("Simulated and observed", figure, said)


def calibration(tables: Tables) -> Drawn:
    """Observed against predicted confidence, one panel for each model."""
    models = dict(list(tables["calibration"].groupby("model", sort=False)))
    figure, axes = style.new_figure(3.2, columns=len(models), sharey=True)
    for side, (model, part) in zip(axes[0], models.items(), strict=True):
        side.plot([0.5, 1], [0.5, 1], **style.DASHED)
        for row in records(part):
            style.interval(side, row["predicted"], row, MACHINE, upright=True)
        side.set_title(model, fontsize=9)
        side.set_xlabel("Predicted")
        side.grid()
    axes[0, 0].set_ylabel("Observed")
    pairs = int(next(iter(models.values()))["n"].sum())
    said = (
        "On the dashed line pairs are ranked right as often as predicted; above it the prediction "
        f"was too careful. Intervals are over systems. {pairs} pairs, predicted without looking "
        "at them."
    )
    return Drawn("Calibration on held-out pairs", figure, said)


def errors(tables: Tables) -> Drawn:
    """The sizes of the judge's errors beside those of the noise in its place (figure 2)."""
    frame = tables["errors"]
    figure, side = style.single(3.4)
    width = frame["to"].iloc[0] - frame["from"].iloc[0]
    places = frame["from"] + width / 2
    side.bar(places, frame["simulated"], width, color=style.HUES[7], alpha=0.35)
    for x, row in zip(places, records(frame), strict=True):
        style.interval(side, x, row, MACHINE, upright=True)
    last = frame["from"].iloc[-1]
    side.axvline(last, **style.DASHED)
    side.set(xlabel="Absolute error of a text, human units", ylabel="Share of the texts")
    side.grid(axis="y")
    keys = [style.line(style.HUES[7], "-", "Gaussian noise"), style.key(MACHINE, "the judge")]
    style.legend(figure, keys)
    said = f"Right of the dashed line all errors above {last:.2g}. Intervals are over items."
    return Drawn("The judge's errors and the noise", figure, style.with_n(said, frame))


DRAWINGS: dict[str, Drawing] = {
    "ranking_systems": systems,
    "ranking_observed": observed,
    "ranking_calibration": calibration,
    "ranking_errors": errors,
    **curves.DRAWINGS,
}
