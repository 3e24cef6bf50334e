"""Good faith against problematic agents in a run and over the runs of a sweep: figures, tables, and
d against compression (TVD-MI paper, appendix B.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, read_estimate
from judgelab.report import format, style
from judgelab.report.format import columns, frame, records
from judgelab.report.jobs import Comparison, SweepJob, axes, option, setting, variant
from judgelab.report.style import Drawing, Drawn, Mark, Tables
from judgelab.report.sweep import name_of
from judgelab.study.common.sweeps import comparison, prompt_effects
from judgelab.study.common.templates import caption, estimate_of, paragraphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SIDES = (
    ("Effect size d", ("effect_size",), 0.0),
    ("AUC", ("auc", "pair_auc"), 0.5),
)
UNITS = {"auc": "agents, ", "pair_auc": "pairs, "}
MOST = 60  # agents in one drawing
GROUPS = {"problematic": "s", "reference": "D"}
UNCATEGORISED = "no category"


def effects(tables: Tables) -> Drawn:
    """Two panels: d against 0, AUC against .5; clean filled, attacked hollow."""
    frame = tables["discrimination"]
    height = 1.3 + 0.55 * frame["panel"].nunique()
    figure, axes = style.new_figure(height, columns=2, gridspec_kw={"width_ratios": [1, 1.5]})
    for side, (title, statistics, null) in zip(axes[0], SIDES, strict=True):
        rows = [row for s in statistics for row in records(frame[frame["statistic"] == s])]
        names = [f"{UNITS.get(row['statistic'], '')}{row['panel']}" for row in rows]
        for y, row in zip(style.name_rows(side, names), rows, strict=True):
            style.interval(side, y, row, Mark(style.INK, hollow=row["panel"] == "attacked", size=7))
            label = format.estimate(row["value"], row.get("low"), row.get("high"))
            style.aside(side, y, label if label != format.NOTHING else "unscored")
        style.reference_line(side, null)
        side.margins(x=0.12)
        side.set(title=title, xlabel=f"{title}  ({null:g} = uninformative)")
    return caption(
        __package__, "effects", figure, frame, attacked="attacked" in set(frame["panel"])
    )


def agents(tables: Tables) -> Drawn:
    """A dot with interval for each agent, best first; clean filled, attacked hollow and below."""
    frame = tables["agents"]
    frame = frame.assign(category=frame["category"].astype(object).fillna(UNCATEGORISED))
    names, panels = list(dict.fromkeys(frame["agent"])), list(dict.fromkeys(frame["panel"]))
    part = names if len(names) <= MOST else [*names[: MOST // 2], *names[-MOST // 2 :]]
    figure, side = style.single(1.1 + (0.14 + 0.06 * len(panels)) * max(len(part), 3))
    hues = _hues(list(dict.fromkeys(frame["category"])))
    rows = {(row["panel"], row["agent"]): row for row in records(frame)}
    for y, name in zip(style.name_rows(side, part, margin=0.7), part, strict=True):
        unscored = []
        for k, panel in enumerate(panels):  # the second of two lies below the first
            row, place = rows.get((panel, name)), y + (0.17 - 0.34 * k) * (len(panels) > 1)
            if row is None or not style.interval(side, place, row, _mark(row, hues)):
                unscored.append(panel)
        if unscored:
            everywhere = len(unscored) == len(panels)
            style.unscored(side, y, "unscored" if everywhere else f"{unscored[0]}: unscored")
    side.set_xlabel("Mean score, 95 % interval over items")
    side.grid(axis="y", lw=0.4, alpha=0.6)
    others = frame[frame["group"] != "reference"]
    shapes = {r["category"]: GROUPS.get(r["group"], "o") for r in records(others)}
    marks = {name: Mark(hue, shapes[name]) for name, hue in hues.items() if name in shapes}
    if len(others) < len(frame):
        marks["human reference"] = Mark(style.INK, "D")
    if len(panels) > 1:
        marks |= {"clean": Mark(style.MUTED), "attacked": Mark(style.MUTED, hollow=True)}
    labels = [(mark, format.shorten(format.text(name), 24)) for name, mark in marks.items()]
    style.legend(figure, [style.key(mark, name) for mark, name in labels])
    facts: dict[str, Any] = {"attacked": len(panels) > 1, "left_out": len(names) - len(part)}
    facts["reference"] = len(others) < len(frame)
    return caption(__package__, "agents", figure, frame, **facts)


def _mark(row: dict[str, Any], hues: dict[str, str]) -> Mark:
    colour = style.INK if row["group"] == "reference" else hues[row["category"]]
    return Mark(colour, GROUPS.get(row["group"], "o"), hollow=row["panel"] == "attacked", size=5.5)


def _hues(names: list[str]) -> dict[str, str]:
    """A colour for each category: the paper's five are fixed, others take what is left."""
    fixed = {**style.CATEGORIES, UNCATEGORISED: style.CATEGORIES["Other"]}
    spare = cycle(hue for hue in style.HUES if hue not in fixed.values())
    in_order = sorted(names, key=lambda name: [*fixed, name].index(name))
    return {name: fixed.get(name) or next(spare) for name in in_order}


FEWEST = 4  # data sets behind a parabola
CLEAN = "none"
SHAPES = ("s", "^", "D", "v", "P", "X", "<", ">")
STEP = 0.17  # inches between two points of one mechanism
BY = {
    "compression_reference": "Compression (source / human reference)",
    "compression_response": "Compression (source / response)",
    "effective_rank": "Effective rank",
}


def draw_points(tables: Tables, statistic: str, label: str, null: float) -> Drawn:
    """A row of points for each mechanism, one for each attack, by one statistic; a panel for each
    dataset. Of one mechanism a row for each dataset."""
    frame = tables["points"]
    if frame["group"].nunique() == 1 < frame["dataset"].nunique():
        frame = frame.assign(group=frame["dataset"], dataset="")
    rows = frame[frame["statistic"] == statistic]
    parts = dict(list(rows.groupby("dataset", sort=False)))
    attacks = dict.fromkeys(frame["attack"])
    marks = {CLEAN: Mark(style.INK)} if CLEAN in attacks else {}
    looks = zip(
        (name for name in attacks if name != CLEAN), cycle(SHAPES), cycle(style.HUES), strict=False
    )
    marks |= {name: Mark(hue, shape, hollow=True, size=5.5) for name, shape, hue in looks}
    slots = [len(part) + part["group"].nunique() for part in parts.values()]  # and one after each
    height = 1.0 + sum(0.55 + STEP * each for each in slots)
    figure, axes = style.new_figure(height, rows=len(parts), sharex=True, height_ratios=slots)
    for side, (dataset, part) in zip(axes[:, 0], parts.items(), strict=True):
        _groups(side, part, marks)
        style.reference_line(side, null)
        side.grid(axis="x")
        side.set_title(format.shorten(format.text(dataset), 60) if len(parts) > 1 else "")
    axes[-1, 0].set_xlabel(f"{label}, 95 % interval  ({null:g} = uninformative)")
    entries = [style.key(m, "clean" if name == CLEAN else name) for name, m in marks.items()]
    style.legend(figure, entries)
    return caption(__package__, f"points of {statistic}", figure, frame)


def by_compression(tables: Tables) -> Drawn:
    """d against the compression and against the effective rank, a line for each group's parabola.
    The compression is by human references where every data set has them, else by responses."""
    import numpy as np

    frame = tables["compression"]
    ratio = "compression_reference"
    ratio = ratio if frame[ratio].notna().all() else "compression_response"
    quantities = [by for by in (ratio, "effective_rank") if frame[by].notna().any()]
    figure, axes = style.new_figure(3.6, columns=len(quantities), sharey=True)
    groups = list(frame.groupby("group", sort=False))
    for side, by in zip(axes[0], quantities, strict=True):
        for hue, (_, part) in zip(cycle(style.HUES), groups, strict=False):
            spots = part.dropna(subset=[by, "value"])
            for row in records(spots):
                style.interval(side, row[by], row, Mark(hue, size=4.5), upright=True)
            if spots[by].nunique() >= FEWEST:
                across = np.linspace(spots[by].min(), spots[by].max(), 60)
                parabola = np.polynomial.Polynomial.fit(spots[by], spots["value"], 2)
                side.plot(across, parabola(across), color=hue, lw=1.4)
        side.axhline(0, **style.DASHED, zorder=1)
        side.set_xlabel(BY[by])
        side.grid(axis="y")
    axes[0, 0].set_ylabel("Effect size d")
    entries = [
        style.key(Mark(hue), format.shorten(format.text(name), 40))
        for hue, (name, _) in zip(cycle(style.HUES), groups, strict=False)
    ]
    style.legend(figure, entries)
    return caption(__package__, "by_compression", figure, frame)


def _groups(axes: Axes, frame: DataFrame, marks: dict[str, Mark]) -> None:
    """The points of every mechanism below each other, a rule between mechanisms."""
    ticks: dict[str, float] = {}
    y = 0.0
    for group, part in frame.groupby("group", sort=False):
        if ticks:
            axes.axhline(y + 1, color=style.RULE, lw=0.6, zorder=0)
        rows = sorted(records(part), key=lambda row: list(marks).index(row["attack"]))
        for place, row in enumerate(rows):
            if not style.interval(axes, y - place, row, marks[row["attack"]]):
                style.unscored(axes, y - place, f"{row['attack']}: unscored")
        value = rows[0]["value"]
        if len(rows) > 1 and rows[0]["attack"] == CLEAN and value == value:
            ends = [y, y - len(rows) + 0.6]
            axes.plot([value, value], ends, color=style.INK, lw=0.9, ls=":", zorder=1)
        ticks[format.shorten(format.text(group), 40)] = y - (len(rows) - 1) / 2
        y -= len(rows) + 1
    axes.set_yticks(list(ticks.values()), list(ticks))
    axes.set_ylim(y + 1, 1)


DRAWINGS: dict[str, Drawing] = {
    "discrimination": effects,
    "agent_scores": agents,
    "effect_sizes_by_mechanism": partial(
        draw_points, statistic="effect_size", label="Effect size d", null=0.0
    ),
    "auc_under_attack": partial(draw_points, statistic="auc", label="AUC", null=0.5),
    "effect_sizes_by_compression": by_compression,
}
HEADLINES = (
    Headline(
        "clean/human_within",
        "Agreement with people",
        0.5,
        gain="clean/human_within_gain",
        people=True,
    ),
    Headline("clean/auc", "AUC, good against bad responses", 0.5, gain="clean/auc_gain"),
    Headline("clean/pair_auc", "AUC of pairs", 0.5),
    Headline("clean/effect_size", "Effect size"),
)


def compare(runs: Sequence[SweepJob]) -> list[Comparison]:
    """Points of every mechanism under every attack, and fits over data sets where there are any."""
    prompts, rows = prompt_effects(runs), points(runs)
    if rows.empty:
        return prompts
    falls = {
        f"{name_of(job, runs, ('attack',))} under {job.summary['attack']}": one
        for job in runs
        if not math.isnan((one := estimate_of(job.summary, "change/auc")).high)
    }
    answer = paragraphs(__package__, "sweep.md.j2", falls=falls)
    figures = ["effect_sizes_by_mechanism", "auc_under_attack"]
    return [Comparison("points", rows, figures=figures, answer=answer), *fits(rows), *prompts]


def points(jobs: Sequence[SweepJob]) -> DataFrame:
    """Rows for the figures: one clean point for a mechanism's settings and a dataset, and one for
    each attack."""
    keys = axes(jobs)
    names = [key for key in keys if key.partition(".")[0] not in ("attack", "dataset")]
    data = [key for key in keys if key.partition(".")[0] == "dataset"]
    head = ("dataset", "group", "attack", "statistic")
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for job in (job for job in jobs if "clean/auc" in job.summary):
        dataset = " · ".join(option(job, key) for key in data) or setting(job, "dataset")
        group = " · ".join(option(job, key) for key in names) or setting(job, "mechanism")
        attacks = {"clean": CLEAN, "attacked": variant(job, setting(job, "attack"), keys)}
        for (panel, attack), statistic in product(attacks.items(), ("effect_size", "auc")):
            spot = (dataset, group, attack, statistic)
            if f"{panel}/{statistic}" in job.summary and spot not in rows:
                row = read_estimate(job.summary, f"{panel}/{statistic}")
                row |= {by: job.summary.get(f"{panel}/{by}") for by in BY}
                rows[spot] = dict(zip(head, spot, strict=True)) | row
    return frame({"rows": list(rows.values())})


def fits(points: DataFrame) -> list[Comparison]:
    """Of clean d over data sets; empty with fewer than four of different compression in every
    group."""
    from judgelab.stats.discrimination.structure import quadratic_against_linear

    clean = points[(points["attack"] == CLEAN) & (points["statistic"] == "effect_size")]
    rows = [
        {"group": group, "by": name} | asdict(quadratic_against_linear(part[by], part["value"]))
        for group, part in clean.groupby("group", sort=False)
        for by, name in BY.items()
        if part.dropna(subset=[by, "value"])[by].nunique() >= FEWEST
    ]
    if not rows:
        return []
    figures = ["effect_sizes_by_compression"]
    return [comparison(__package__, "compression", records(clean), columns(rows), figures)]
