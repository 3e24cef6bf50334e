"""Tables 5, 6 and 7 and the consistency of A.2 and A.3: correlations over models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.command import Row, Table
from experiments.gem.printed import METRICS, Printed
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.leaderboard import agreement

DRAWS = 2000


def table5(printed: Printed) -> Table:
    """GRE-bench (Table 6) against other benchmarks (the spreadsheet)."""
    rows = []
    for metric, cells in printed.table5.items():
        ours = printed.board("6", METRICS[metric])
        for benchmark, number in cells.items():
            pearson, spearman = both(ours, printed.sheet(benchmark))
            rows.append(Row("5", metric, benchmark, number, pearson, spearman, digits=2))
    return Table("5", "GRE-bench against other benchmarks, over models", tuple(rows), _notes(rows))


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    matches = sum(row.match is True for row in rows)
    others = sum(
        row.corrected is not None and round(row.corrected.value, 2) == row.paper for row in rows
    )
    places = []
    for metric in dict.fromkeys(row.row for row in rows):
        cells = [row for row in rows if row.row == metric and row.corrected is not None]
        best_first = sorted(cells, key=lambda row: -row.corrected.value if row.corrected else 0.0)
        names = [row.column for row in best_first]
        if "GSM8K" in names:
            places.append(f"{names.index('GSM8K') + 1} of {len(names)} ({metric})")
    return (
        f"Printed as Spearman: Pearson rounds to the printed number in {matches} of {len(rows)} "
        f"cells, Spearman in {others}.",
        "The text has GRE-bench less correlated with GSM8K; by Spearman GSM8K's place is "
        f"{', '.join(places)}.",
    )


def consistency(printed: Printed, section: str) -> Table:
    """One leaderboard against another, on the models that the coefficient is about."""
    first, second, numbers = printed.raw["consistency"][section]
    rows = []
    for (metric, column), number in zip(METRICS.items(), numbers, strict=True):
        ours, theirs = printed.board(first, column), printed.board(second, column)
        shared = [model for model in ours if model in theirs]
        without = [model for model in shared if not model.startswith("deepseek/")]
        subsets = {f"{len(without)} models without DeepSeek": without}
        if len(shared) > len(without):
            subsets[f"all {len(shared)} models"] = shared
        for name, models in subsets.items():
            pearson, spearman = both({model: ours[model] for model in models}, theirs)
            rows.append(Row(section, metric, name, number, pearson, spearman, digits=2))
    title = f"GRE-bench of Table {first} against Table {second}, over models"
    note = "Printed as Spearman; it is Pearson over the models without DeepSeek."
    return Table(section, title, tuple(rows), (note,))


def table7(printed: Printed) -> Table:
    """Table 7 beside the spreadsheet, which has more digits of two of its columns."""
    rows = []
    for metric, column in (("GEM", "GEM"), ("GEM-S (abstract)", "GEM-S")):
        sheet = printed.sheet(column)
        for model, number in printed.board("7", METRICS[metric]).items():
            if model in sheet:
                value = Estimate(sheet[model], np.nan, np.nan, 1)
                rows.append(Row("7", model, metric, number, value, digits=2))
    return Table("7", "GRE-bench with Llama-3.1 8B beside the spreadsheet", tuple(rows))


def both(x: Mapping[str, float], y: Mapping[str, float]) -> tuple[Estimate, Estimate]:
    """Pearson and Spearman over the models that have both numbers."""
    shared = [model for model in x if model in y]
    left, right = ([side[model] for model in shared] for side in (x, y))
    return (
        agreement(left, right, "pearson", DRAWS, interval="percentile"),
        agreement(left, right, "spearman", DRAWS),
    )
