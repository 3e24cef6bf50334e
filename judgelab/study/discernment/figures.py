"""Discernment of one judge, of several (DHP paper, Figures 3 to 5), and their styles (6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import frame as frame_of
from judgelab.report.tables import records

if TYPE_CHECKING:
    from pandas import DataFrame

RED = style.HUES[1]
LEVELS = {"character": style.HUES[5], "word": style.HUES[2], "sentence": style.HUES[4]}
HUES = {
    "average": style.HUES[0],
    "average_ew": style.HUES[5],
    "minimum": style.HUES[6],
    "minimum_ew": style.HUES[4],
}
BY_CHANCE = "what chance reaches in 5 %"
MOST = 6  # judges whose ratings are held against each other
BINS = 12
VARIANTS = (style.MUTED, *style.HUES)


def bars(tables: Tables) -> Drawn:
    """Average and minimum at the top, then every perturbation by level."""
    rows = records(tables["discernment"])
    over = {row["statistic"]: row for row in records(tables["averages"])}
    entries = [(label, over[name], style.HUES[0]) for name, label in _overall(over)]
    entries += [(format.words(r["perturbation"]), r, LEVELS[r["level"]]) for r in rows]
    figure, side = style.single(1.2 + 0.26 * len(entries))
    heights = style.name_rows(side, [label for label, _, _ in entries], margin=0.7)
    for y, (_, row, hue) in zip(heights, entries, strict=True):
        if row["value"] != row["value"]:
            style.unscored(side, y)
            continue
        side.barh(y, row["value"], height=0.66, color=hue, zorder=2)
        if row["low"] == row["low"] and row["high"] == row["high"]:
            side.plot([row["low"], row["high"]], [y, y], color=style.INK, lw=1, alpha=0.7, zorder=3)
        if row["threshold"] == row["threshold"]:
            side.plot([row["threshold"]], [y], marker="|", ms=11, mew=2, color=RED, zorder=4)
    style.reference_line(side, 1)
    side.set_xlim(left=0)
    side.set_xlabel("D (log.05 of p)")
    hues = {"all": style.HUES[0], **LEVELS}
    shown = {"all", *(row["level"] for row in rows)}
    keys = [style.key(Mark(hue, "s"), name) for name, hue in hues.items() if name in shown]
    style.legend(figure, [*keys, style.key(Mark(RED, "|", size=10), BY_CHANCE)])
    said = (
        f"Bars are D, {over['average_ew']['weights']}, where nothing else is said; lines are 95 % "
        "intervals over items, the dashed line is p = .05. A bar that ends left of its red mark is "
        "no more than chance reaches."
    )
    return Drawn("Discernment", figure, style.with_n(said, tables["discernment"]))


def _overall(over: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Averages and minima with their labels; without weights only where it makes a difference."""
    for name in ("average", "minimum"):
        plain, weighted = over[name], over[f"{name}_ew"]
        if abs(plain["value"] - weighted["value"]) > 1e-9:
            yield name, f"{name}, without weights"
        yield f"{name}_ew", f"{name}, {weighted['weights']}"


def of_judges(tables: Tables) -> Drawn:
    """One panel for each dataset; for each judge its average and least D, weighted and not."""
    frame = tables["judges"]
    parts = dict(list(frame.sort_values("job", kind="stable").groupby("dataset", sort=False)))
    series = _series(frame)
    names = list(dict.fromkeys(frame.sort_values("job", kind="stable")["judge"]))
    across = 2 if len(parts) > 1 and len(names) * len(series) <= 48 else 1
    down = -(-len(parts) // across)
    figure, axes = style.new_figure(0.8 + 2.5 * down, across, down, sharey=True)
    for side in axes.flat[len(parts) :]:
        side.set_axis_off()
    for side, (dataset, part) in zip(axes.flat, parts.items(), strict=False):
        _panel(side, records(part), series)
        side.set_title(format.text(dataset))
    for side in axes[:, 0]:
        side.set_ylabel("D (log.05 of p)")
    keys = [style.key(Mark(HUES[name], "s"), label) for name, label in series.items()]
    line = style.line(RED, "--", "p = .05")
    style.legend(figure, [*keys, style.key(Mark(RED, "_", size=9), BY_CHANCE), line])
    said = (
        "Average: mean over levels of the mean within each; minimum: over perturbations. Lines are "
        "95 % intervals over items. A bar that ends below its red mark is no more than chance "
        "reaches."
    )
    return Drawn("Judges by discernment", figure, style.with_n(said, frame))


def of_one_run(tables: Tables) -> Drawn:
    """The same of the judges of one run, the best first."""
    rows: dict[str, dict[str, Any]] = {}
    for found in records(tables["averages"]):
        row = rows.setdefault(found["judge"], {"judge": found["judge"], "dataset": "", "job": 0})
        parts = ("value", "low", "high", "threshold")
        row |= flat_estimate(found["statistic"], {part: found[part] for part in parts})
        if found["statistic"] == "average_ew":
            row |= {key: found[key] for key in ("weights", "n", "unscored")}
    return of_judges({"judges": frame_of({"rows": list(rows.values())})})


def _series(frame: DataFrame) -> dict[str, str]:
    """Which of the four D are drawn, and their labels: without weights only where it differs."""
    words = list(dict.fromkeys(frame["weights"]))
    weights = words[0] if len(words) == 1 else "weights as given"
    made = {}
    for name in ("average", "minimum"):
        if (frame[name] - frame[f"{name}_ew"]).abs().max() > 1e-9:
            made[name] = f"{name} D, without weights"
        made[f"{name}_ew"] = f"{name} D, {weights}"
    return made


def _panel(side: Any, rows: list[dict[str, Any]], series: dict[str, str]) -> None:
    width = 0.8 / len(series)
    for (k, row), (j, name) in product(enumerate(rows), enumerate(series)):
        found = read_estimate(row, name)
        x = k + (j - (len(series) - 1) / 2) * width
        value, low, high, chance = (found[p] for p in ("value", "low", "high", "threshold"))
        if value != value:
            side.annotate("unscored", (x, 0.05), rotation=90, ha="center", fontsize=7)
            continue
        side.bar(x, value, width=0.92 * width, color=HUES[name], zorder=2)
        if low == low and high == high:
            side.plot([x, x], [low, high], color=style.INK, lw=0.9, alpha=0.7, zorder=3)
        if chance == chance:
            side.plot([x], [chance], marker="_", ms=60 * width, mew=1.6, color=RED, zorder=4)
    side.axhline(1, **style.DASHED | {"color": RED}, zorder=1)
    labels = [format.shorten(format.text(row["judge"]), 24) for row in rows]
    side.set_xticks(range(len(rows)), labels, rotation=35, ha="right", rotation_mode="anchor")
    side.tick_params(axis="x", labelsize=8)
    side.set_ylim(bottom=0)
    side.grid(axis="y")


def styles(tables: Tables) -> Drawn:
    """How each judge rates originals and perturbed texts, and how alike every two judges do.

    One panel for each judge on the diagonal; above it two judges' ratings of the originals, below
    it those of the perturbed texts, with Pearson's r. Of the first ``MOST`` judges.
    """
    frame = tables["response_styles"]
    wide = frame.pivot_table(
        index=["variant", "item"], columns="judge", values="rating", sort=False
    )
    judges = list(dict.fromkeys(frame["judge"]))[:MOST]
    wide = wide.reindex(columns=judges)
    rated = set(wide.index.get_level_values("variant"))
    variants = [name for name in dict.fromkeys(frame["variant"]) if name in rated]
    figure, axes = style.new_figure(0.9 + 1.45 * len(judges), len(judges), len(judges))
    hues = dict(zip(variants, VARIANTS, strict=False))
    for (r, row), (c, col) in product(enumerate(judges), repeat=2):
        if r != c:
            shown = variants[:1] if r < c else variants[1:]
            _against(axes[r, c], wide[col].loc[shown], wide[row].loc[shown], c < r)
    for name, side in zip(judges, axes.diagonal(), strict=True):
        _shares(side, wide[name], hues)
        side.set_title(format.shorten(format.text(name), 22), fontsize=8.5)
        side.tick_params(labelsize=7)
    keys = [style.key(Mark(hue, "s"), format.words(name)) for name, hue in hues.items()]
    style.legend(figure, keys)
    said = (
        "Items by their rating, averaged over metrics, one panel for each judge: its response "
        "style; only the shift from the grey histogram is discernment. Above the diagonal two "
        "judges' ratings of the originals, below it of the perturbed texts, with Pearson's r "
        "(intervals: table of the page)."
    )
    counted = wide.loc[variants[0]].notna().sum()
    low, high = int(counted.min()), int(counted.max())
    n = f"{low}" if low == high else f"{low} to {high}"
    return Drawn("Response styles of the judges", figure, f"{said} n\u00a0=\u00a0{n} items.")


def _shares(side: Any, ratings: Any, hues: dict[str, str]) -> None:
    """Histograms of a judge's ratings of each variant: the originals' filled, the others' lines."""
    import numpy as np

    known = ratings.dropna()
    if known.empty:
        side.annotate("unscored", (0.5, 0.5), xycoords="axes fraction", ha="center", fontsize=8)
        return
    edges = np.histogram_bin_edges(known.to_numpy(), bins=BINS)
    for place, (variant, hue) in enumerate(hues.items()):
        values = ratings.loc[variant].dropna()
        kind = {"histtype": "stepfilled", "alpha": 0.4} if not place else {"histtype": "step"}
        side.hist(values, bins=edges, color=hue, lw=1.5, **kind)


def _against(side: Any, x: Any, y: Any, perturbed: bool) -> None:
    both = x.notna() & y.notna()
    x, y = x[both], y[both]
    side.plot(
        x, y, ls="", marker="o", ms=2, alpha=0.5, color=style.HUES[0] if perturbed else style.MUTED
    )
    varies = len(x) > 1 and x.nunique() > 1 and y.nunique() > 1
    said = f"r = {x.corr(y):.2f}" if varies else "r unknown"
    side.annotate(said, (0.04, 0.96), xycoords="axes fraction", va="top", fontsize=7.5)
    side.tick_params(labelsize=6)


DRAWINGS: dict[str, Drawing] = {
    "discernment_bars": bars,
    "discernment_judges": of_judges,
    "discernment_of_judges": of_one_run,
    "judges_response_styles": styles,
}
