"""Discernment of one judge and of several (DHP paper, Figures 3 to 5), styles (6), and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, flat_estimate, read_estimate
from judgelab.report import format, style
from judgelab.report.format import estimates, frame, records
from judgelab.report.jobs import Comparison, SweepJob, axes, keyed, marked, option, scorer
from judgelab.report.style import Drawing, Drawn, Mark, Tables
from judgelab.study.common.panels import SCORES
from judgelab.study.common.sweeps import comparison
from judgelab.study.common.templates import caption

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
BY_CHANCE = Mark(RED, "|", size=10), "what chance reaches in 5 %"
D = "D (log.05 of p)"
MOST = 6  # judges whose ratings are held against each other
BINS = 12
VARIANTS = (style.MUTED, *style.HUES)


def bars(tables: Tables) -> Drawn:
    """Average and minimum at the top, then every perturbation by level."""
    rows, averages = records(tables["discernment"]), records(tables["averages"])
    over = {row["statistic"]: row for row in averages}
    plain = tables["averages"].set_index("statistic")[["value"]].T
    entries = [
        (label, over[name], style.HUES[0])
        for name, label in _labels(plain, over["average_ew"]["weights"]).items()
    ]
    entries += [(format.words(row["perturbation"]), row, LEVELS[row["level"]]) for row in rows]
    figure, side = style.single(1.2 + 0.26 * len(entries))
    _bars(side, entries)
    side.set_xlabel(D)
    levels = {row["level"] for row in rows}
    keys = [style.key(Mark(hue, "s"), name) for name, hue in LEVELS.items() if name in levels]
    style.legend(figure, [*keys, style.key(*BY_CHANCE)])
    return caption(__package__, "bars", figure, tables["discernment"])


def of_judges(tables: Tables) -> Drawn:
    """A panel for each dataset; for each judge its average and least D, weighted and not."""
    board = tables["judges"].sort_values("job", kind="stable")
    parts = dict(list(board.groupby("dataset", sort=False)))
    words = list(dict.fromkeys(board["weights"]))
    labels = _labels(board, words[0] if len(words) == 1 else "weights as given")
    sizes = [1 + len(part) * len(labels) for part in parts.values()]
    height = 1.2 + sum(0.3 + 0.22 * size for size in sizes)
    figure, sides = style.new_figure(height, 1, len(parts), sharex=True, height_ratios=sizes)
    for side, (dataset, part) in zip(sides[:, 0], parts.items(), strict=True):
        entries = [
            ("" if k else row["judge"], read_estimate(row, name), HUES[name])
            for row in records(part)
            for k, name in enumerate(labels)
        ]
        _bars(side, entries)
        side.set_title(format.text(dataset))
    sides[-1, 0].set_xlabel(D)
    keys = [style.key(Mark(HUES[name], "s"), label) for name, label in labels.items()]
    style.legend(figure, [*keys, style.key(*BY_CHANCE)])
    return caption(__package__, "judges", figure, board)


def _labels(values: DataFrame, weights: str) -> dict[str, str]:
    """Averages and minima; without weights only where these make a difference."""
    labels = {}
    for name in ("average", "minimum"):
        if ((values[name] - values[f"{name}_ew"]).abs() > 1e-9).any():
            labels[name] = f"{name}, without weights"
        labels[f"{name}_ew"] = f"{name}, {weights}"
    return labels


def _bars(side: Any, entries: Sequence[tuple[str, Mapping[str, Any], str]]) -> None:
    """A bar for each (label, estimate with its threshold, colour), the first on top."""
    heights = style.name_rows(side, [label for label, _, _ in entries], margin=0.7)
    for y, (_, row, hue) in zip(heights, entries, strict=True):
        if row["value"] != row["value"]:
            style.unscored(side, y)
            continue
        side.barh(y, row["value"], height=0.66, color=hue, zorder=2)
        side.plot([row["low"], row["high"]], [y, y], color=style.INK, lw=1, alpha=0.7, zorder=3)
        side.plot([row["threshold"]], [y], marker="|", ms=11, mew=2, color=RED, zorder=4)
    style.reference_line(side, 1)
    side.set_xlim(left=0)


def styles(tables: Tables) -> Drawn:
    """How each judge rates originals and perturbed texts, and how alike every two judges do."""
    ratings: DataFrame = tables["response_styles"]
    judges = list(dict.fromkeys(ratings["judge"]))[:MOST]
    wide = ratings.pivot_table(
        index=["variant", "item"], columns="judge", values="rating", sort=False
    ).reindex(columns=judges)
    variants = list(wide.index.get_level_values("variant").unique())
    figure, sides = style.new_figure(0.9 + 1.45 * len(judges), len(judges), len(judges))
    hues = dict(zip(variants, VARIANTS, strict=False))
    for (r, row), (c, col) in product(enumerate(judges), repeat=2):
        side = sides[r, c]
        side.tick_params(labelsize=6)
        if r == c:
            _shares(side, wide[row], hues)
            side.set_title(format.shorten(format.text(row), 22), fontsize=8.5)
        else:
            part = variants[:1] if r < c else variants[1:]
            _against(side, wide.loc[part, [col, row]].dropna(), VARIANTS[r > c])
    style.legend(figure, [style.key(Mark(hue, "s"), format.words(v)) for v, hue in hues.items()])
    return caption(__package__, "styles", figure, n=len(wide.loc[variants[0]].dropna()))


def _shares(side: Any, ratings: Any, hues: dict[str, str]) -> None:
    import numpy as np

    values = ratings.dropna()
    if values.empty:
        side.annotate("unscored", (0.5, 0.5), xycoords="axes fraction", ha="center", fontsize=8)
        return
    edges = np.histogram_bin_edges(values.to_numpy(), bins=BINS)
    for place, (variant, hue) in enumerate(hues.items()):
        kind = {"histtype": "step"} if place else {"histtype": "stepfilled", "alpha": 0.4}
        side.hist(ratings.loc[variant].dropna(), bins=edges, color=hue, lw=1.5, **kind)


def _against(side: Any, both: DataFrame, colour: str) -> None:
    x, y = (both[name] for name in both)
    side.plot(x, y, ls="", marker="o", ms=2, alpha=0.5, color=colour)
    varies = x.nunique() > 1 and y.nunique() > 1
    label = f"r = {x.corr(y):.2f}" if varies else "r unknown"
    side.annotate(label, (0.04, 0.96), xycoords="axes fraction", va="top", fontsize=7.5)


DRAWINGS: dict[str, Drawing] = {
    "discernment_bars": bars,
    "discernment_judges": of_judges,
    "judges_response_styles": styles,
}
HEADLINES = (
    Headline("discernment/average_ew", "Discernment"),
    Headline("best_discernment", "Discernment of the best judge"),
    Headline("discernment/minimum_ew", "Least discernment"),
)
PARTS = ("value", "low", "high", "n", "unscored", "threshold")


def compare(runs: Sequence[SweepJob]) -> list[Comparison]:
    """Judges by discernment, the best of a dataset on top, and, of one dataset, how they use their
    scale (the DHP paper's Figure 6); nothing with fewer than two."""
    import pandas as pd

    varying = [key for key in axes(runs) if key not in ("study", "dataset", "attack")]
    keys = [key for key in varying if not key.startswith("study.judges")]
    judges = [
        (row, ratings)
        for job, own in zip(runs, marked(runs), strict=True)
        for row, ratings in _judges(job, scorer(job, keys, own), keys if len(runs) > 1 else ())
    ]
    if len(judges) < 2:
        return []
    board = frame({"rows": [row for row, _ in judges]})
    by = ["dataset", "average_ew"]
    board = board.sort_values(by, ascending=[True, False], kind="stable", ignore_index=True)
    rows, several = records(board), board["dataset"].nunique() > 1
    wide = [keyed(rows, key) for key in (("judge", "dataset") if several else ("judge",))]
    for name, heading in (("average_ew", "D average"), ("minimum_ew", "D minimum")):
        wide.append(estimates(name, [read_estimate(row, name) for row in rows], heading))
        wide.append(keyed(rows, f"{name}_threshold", "chance"))
    wide += [keyed(rows, key) for key in ("n", "unscored", "not_seen")]
    comparisons = [comparison(__package__, "judges", rows, wide, ["discernment_judges"])]
    frames = [ratings for _, ratings in judges if ratings is not None]
    if not several and len(frames) > 1:
        cells = pd.concat(frames)[["judge", "variant", "item", "rating"]]
        comparisons.append(Comparison("response_styles", cells, figures=["judges_response_styles"]))
    return comparisons


def _judges(
    job: SweepJob, only: str, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], DataFrame | None]]:
    """A row for each judge of a run, and its ratings. The only judge of a run is called ``only``,
    those of a list by their names there and what the run has at ``keys``."""
    tables = {one["name"]: one["rows"] for one in (job.result or {}).get("tables", ())}
    for judge in dict.fromkeys(row.get("judge") for row in tables.get("averages", ())):
        over, each = (
            [row for row in tables[name] if row.get("judge") == judge]
            for name in ("averages", "discernment")
        )
        name = only if judge is None else " · ".join([judge, *(option(job, key) for key in keys)])
        not_seen = job.summary["not_seen" if judge is None else f"not_seen/{judge}"]
        row: dict[str, Any] = {"judge": name, "dataset": str(job.summary.get("dataset") or "")}
        for one in over:
            row |= flat_estimate(one["statistic"], {part: one[part] for part in PARTS})
        row |= {key: row[f"average_ew_{key}"] for key in ("n", "unscored")}
        row |= {"items": job.summary["items"], "not_seen": not_seen}
        row |= {"weights": over[0]["weights"], "job": job.number}
        row |= {f"d_ew/{one['perturbation']}": one["value"] for one in each}
        idle = [one["perturbation"] for one in each if one["seen"] == "nothing changed"]
        yield row, _ratings(job, judge, name, idle)


def _ratings(job: SweepJob, judge: str | None, name: str, idle: Sequence[str]) -> DataFrame | None:
    """judge, variant, item, rating (averaged over metrics) of the perturbations that changed a
    text; None where the records are not there, or no text was changed."""
    import pandas as pd

    file = SCORES if judge is None else "records/judgments.parquet"
    if job.run is None or not (job.run / file).is_file():
        return None
    ratings = pd.read_parquet(job.run / file)
    if judge is not None:
        ratings = ratings[ratings["by"] == judge]
    columns = {"agent": "variant", "first": "variant", "score": "rating", "value": "rating"}
    ratings = ratings.rename(columns=columns).assign(judge=name)
    ratings = ratings[~ratings["variant"].isin(idle)]
    return ratings if ratings["variant"].nunique() > 1 else None
