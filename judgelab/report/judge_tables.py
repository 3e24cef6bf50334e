"""Judges by discernment at the end of a sweep: by D, by their response styles, and in pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, marked, scorer
from judgelab.report.judge_ratings import RatedTexts, read_ratings
from judgelab.report.study_table import StudyTable, keyed
from judgelab.report.tables import Column, column, estimates, frame, records

if TYPE_CHECKING:
    from pandas import DataFrame

AVERAGE = "discernment/average_ew"
EACH = "d_ew/"
DS = ("average_ew", "average", "minimum_ew", "minimum")
SHOWN = 15  # pairs on a screen
JUDGES_NOTE = (
    "D averaged over levels and at its minimum over perturbations, with 95 % intervals over items; "
    "chance: what 5 % of judges reach by chance. Compare within a dataset, on the same "
    "perturbations and as many items. With every perturbation by itself: judges.csv."
)
PAIRS_NOTE = (
    "Average D of each judge, {weights}, on the n items that both rated on the same texts, and the "
    "first's minus the second's with its 95 % interval (jackknife over items; none where every "
    "item says the same). p: two-sided, of no difference; p Holm: adjusted for all pairs of the "
    "dataset. All: judge_pairs.csv."
)
STYLES_NOTE = (
    "Pearson's r of two judges over items, by ratings averaged over metrics, for every variant of "
    "the texts. Judges of one discernment may use the scale differently: r says how alike they "
    "rank items, not which is right. Every rating: response_styles.csv."
)


def judge_tables(found: Sequence[SweepJob]) -> list[StudyTable]:
    """What these jobs have to say of judges; nothing with fewer than two."""
    board = judge_table(found)
    if board is None:
        return []
    ratings = [rated for job, name in named(found) if (rated := read_ratings(job, name))]
    weights = weighing([job.summary for job in found if AVERAGE in job.summary])
    made = (board, pair_table(ratings, weights), style_table(ratings))
    return [table for table in made if table is not None]


def named(found: Sequence[SweepJob]) -> list[tuple[SweepJob, str]]:
    """Jobs of study=discernment, and what their judge is called."""
    keys = [key for key in axes(found) if key not in ("study", "dataset", "attack")]
    pairs = zip(found, marked(found), strict=True)
    return [(job, scorer(job, keys, own)) for job, own in pairs if AVERAGE in job.summary]


def weighing(summaries: Iterable[Mapping[str, Any]]) -> str:
    """What the weights of metrics are, in words: uniform unless experts' were given."""
    said = list(dict.fromkeys(str(one.get("weighting", "weighted")) for one in summaries))
    return said[0] if len(said) == 1 else "weights as given"


def d_headings(summaries: Sequence[Mapping[str, Any]], *, every: bool = False) -> dict[str, str]:
    """Summary key -> heading; D without weights where it is another number, or ``every``."""
    known = [one for one in summaries if AVERAGE in one]
    said = weighing(known)
    made = {}
    for name in ("average", "minimum"):
        made[f"discernment/{name}_ew"] = f"D {name}\n{said}"
        if every or not all(_alike(one, f"discernment/{name}") for one in known):
            made[f"discernment/{name}"] = f"D {name}\nwithout weights"
    return made


def _alike(summary: Mapping[str, Any], key: str) -> bool:
    both: tuple[Any, Any] = summary.get(key), summary.get(f"{key}_ew")
    return both[0] == both[1] or (None not in both and abs(both[0] - both[1]) < 1e-9)


def judge_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Judges by discernment, the best of a dataset on top; None with fewer than two."""
    made = [_judge(job, name) for job, name in named(found)]
    if len(made) < 2:
        return None
    by = ["dataset", "average_ew"]
    board = frame({"rows": made, "columns": list(made[0])})
    board = board.sort_values(by, ascending=[True, False], kind="stable", ignore_index=True)
    rows = records(board)
    keys = ["judge", "dataset"] if board["dataset"].nunique() > 1 else ["judge"]
    first = [keyed(rows, key) for key in keys]
    unseen = column("not_seen", [row["not_seen"] or "" for row in rows])
    wide = list(first)
    for key, heading in d_headings([job.summary for job, _ in named(found)]).items():
        name = key.removeprefix("discernment/")
        wide.append(estimates(name, [read_estimate(row, name) for row in rows], heading))
        wide.append(keyed(rows, f"{name}_threshold", "chance"))
    wide += [keyed(rows, key) for key in ("n", "unscored")]
    short = {"average_ew": "D\naverage", "average_ew_threshold": "chance", "minimum_ew": "least D"}
    return StudyTable(
        name="judges",
        figure="discernment_judges",
        note=JUDGES_NOTE,
        rows=board,
        tables={
            "Judges by discernment": [*wide, unseen],
            f"D of each judge on each perturbation, {rows[0]['weights']}": [*first, *_each(rows)],
        },
        narrow=[*first, *(keyed(rows, *one) for one in short.items()), unseen],
    )


def _judge(job: SweepJob, name: str) -> dict[str, Any]:
    summary = job.summary
    row: dict[str, Any] = {"judge": name, "dataset": str(summary.get("dataset") or "")}
    for part in DS:
        found = read_estimate(summary, f"discernment/{part}")
        row |= flat_estimate(part, {p: found[p] for p in ("value", "low", "high", "threshold")})
    counts = {"n": f"{AVERAGE}_n", "unscored": f"{AVERAGE}_unscored"}
    row |= {key: summary.get(place) for key, place in counts.items()}
    row |= {key: summary.get(key) for key in ("items", "not_seen_count", "not_seen")}
    row |= {"weights": weighing([summary]), "job": job.number}
    return row | {key: value for key, value in summary.items() if key.startswith(EACH)}


def _each(rows: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    """Perturbations across."""
    for key in (key for key in rows[0] if key.startswith(EACH)):
        name = key.removeprefix(EACH)
        unseen = [name in str(row["not_seen"] or "").split(", ") for row in rows]
        made = keyed(rows, key, format.words(name).replace(" ", "\n"))
        cells = zip(made.cells, unseen, strict=True)
        yield replace(made, cells=tuple(f"{cell}\nnot seen" if no else cell for cell, no in cells))


def pair_table(ratings: Sequence[RatedTexts], weights: str) -> StudyTable | None:
    """Every two judges of a dataset by the difference of their D; None without two of one."""
    from judgelab.stats.discernment.paired import paired_judges

    rows: list[dict[str, Any]] = []
    for dataset, judges in _by_dataset(ratings).items():
        names = [name for name in judges[0].levels if all(name in one.levels for one in judges)]
        if not names:
            continue
        items = judges[0].ratings.index
        for one in judges[1:]:
            items = items.union(one.ratings.index)
        given = {one.judge: one.of(items, names) for one in judges}
        levels = [judges[0].levels[name] for name in names]
        for (first, second), found in paired_judges(given, levels).items():
            row: dict[str, Any] = {"first": first, "second": second, "dataset": dataset}
            row |= {"d_first": found.first, "d_second": found.second}
            parts = ("value", "low", "high", "n", "unscored", "p")
            row |= {key: getattr(found.difference, key) for key in parts}
            rows.append(row | {"p_holm": found.p_holm})
    if not rows:
        return None
    rows.sort(key=lambda row: (row["dataset"], math.isnan(row["p"]), row["p"]))
    title, note = "Judges in pairs: difference of D", PAIRS_NOTE.format(weights=weights)
    some = _pairs(rows[:SHOWN])
    return StudyTable("judge_pairs", None, note, _frame(rows), {title: _pairs(rows)}, some)


def _pairs(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    keys = ["dataset"] if len({row["dataset"] for row in rows}) > 1 else []
    made = [keyed(rows, key) for key in ("first", "second", *keys)]
    made += [keyed(rows, *one) for one in (("d_first", "D\nfirst"), ("d_second", "D\nsecond"))]
    made.append(estimates("value", rows, "difference"))
    made += [keyed(rows, key) for key in ("n", "unscored", "p")]
    return [*made, column("p", [row["p_holm"] for row in rows], "p Holm")]


def style_table(ratings: Sequence[RatedTexts]) -> StudyTable | None:
    """How the judges of one dataset use their scale (the DHP paper's Figure 6).

    None with several datasets, or fewer than two judges.
    """
    from judgelab.stats.discrimination.correlation import clustered_correlation

    by = _by_dataset(ratings)
    if len(by) != 1:
        return None
    [judges] = by.values()
    rows: list[dict[str, Any]] = []
    for one, other in combinations(judges, 2):
        both = one.means.align(other.means, join="outer")
        for variant in [name for name in one.means if name in other.means]:
            x, y = (half[[variant]].to_numpy(dtype=float) for half in both)
            estimate = clustered_correlation(x, y, "pearson")
            row = {"first": one.judge, "second": other.judge, "variant": format.words(str(variant))}
            row |= {key: getattr(estimate, key) for key in ("value", "low", "high", "n")}
            rows.append(row | {"unscored": estimate.unscored})
    cells = [
        {"judge": one.judge, "variant": str(variant), "item": str(item), "rating": float(value)}
        for one in judges
        for variant, values in one.means.items()
        for item, value in values.items()
    ]
    shown = [keyed(rows, key) for key in ("first", "second", "variant")]
    shown += [estimates("value", rows, "r"), keyed(rows, "n"), keyed(rows, "unscored")]
    title = "How alike judges rate the same texts"
    few = [keyed(rows[:SHOWN], k) for k in ("first", "second", "variant", "value", "n")]
    return StudyTable(
        "response_styles", "judges_response_styles", STYLES_NOTE, _frame(cells), {title: shown}, few
    )


def _by_dataset(ratings: Sequence[RatedTexts]) -> dict[str, list[RatedTexts]]:
    """Datasets with two judges or more, of different names."""
    made: dict[str, dict[str, RatedTexts]] = {}
    for one in ratings:
        made.setdefault(one.dataset, {}).setdefault(one.judge, one)
    return {name: list(judges.values()) for name, judges in made.items() if len(judges) > 1}


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    return frame({"rows": rows, "columns": list(rows[0])})
