"""What of Table 3 can be computed from released texts: ROUGE-L and BLEU, sentence deletion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.command import Row, Table, point
from experiments.gem.printed import Cell, Printed
from experiments.gem.reviews import read_reviews
from judgelab.attack.sentence_deletion import thin, thin_as_released
from judgelab.core.errors import DataError
from judgelab.mechanism.bleu import sacrebleu_of
from judgelab.mechanism.rouge import Rouge
from judgelab.stats.discrimination.effect_size import MULTIPLIER, standardized_mean_difference
from judgelab.stats.intervals.arrays import Floats, divide

CHANGE = "Sentence Deletion"
METRICS = ("ROUGE-L", "BLEU")


@dataclass(frozen=True)
class Scored:
    """Scores [rows] before and after, a row being a candidate against one reference."""

    before: Floats  # of the reviews as they are
    released: Floats  # after deletion as the authors' code does it
    corrected: Floats  # after deletion as the paper words it
    paper: NDArray[np.int64]  # [rows] number of the paper under review


def score(folder: Path) -> dict[str, Scored]:
    """Metric -> scores of every second review against the first and the third.

    Raises:
        DataError: the folder lacks the reviews, or they are damaged.
    """
    panel = read_reviews(folder)
    pairs = []
    for k, (first, candidate, third) in enumerate(panel.texts):
        if first is None or candidate is None or third is None:
            raise DataError(f"{folder}: paper {panel.items[k].id!r} lacks a review.")
        states = candidate, thin_as_released(candidate), thin(candidate)
        pairs += [(k, states, first), (k, states, third)]
    paper = np.array([k for k, _, _ in pairs], dtype=np.int64)
    by_metric = {}
    bleu = sacrebleu_of("none", effective_order=False)  # the authors' tokens are NLTK's
    for metric, compare in zip(METRICS, (Rouge(kind="rougeL").comparison(), bleu), strict=True):
        table = np.array([[compare(text, other) for text in texts] for _, texts, other in pairs])
        by_metric[metric] = Scored(table[:, 0], table[:, 1], table[:, 2], paper)
    return by_metric


def table3(printed: Printed, by_metric: Mapping[str, Scored]) -> Table:
    """d of sentence deletion, and which multiple of which standard error the paper prints."""
    rows: list[Row] = []
    for metric, data in by_metric.items():
        cell = printed.cells("3")[metric][CHANGE]
        rows += [*_d_rows(metric, cell, data), *_multiples(metric, cell, data)]
    notes = (
        f"{len(next(iter(by_metric.values())).paper)} rows (reviews 1 and 3 of each paper are the "
        "references of review 2). The authors' degraded texts, other metrics' scores and the "
        "other changes were not released.",
        "The printed half widths are about 1.645 standard errors of the paired difference over "
        "rows, not 1.96: intervals called 95 % hold about 90 % even if rows were independent.",
    )
    return Table("3", "standardised mean difference, sentence deletion", tuple(rows), notes)


def _d_rows(metric: str, cell: Cell, data: Scored) -> list[Row]:
    after = {CHANGE: data.released, f"{CHANGE} (the paper's wording)": data.corrected}
    return [
        Row(
            "3",
            metric,
            name,
            cell.d,
            standardized_mean_difference(data.before, values, data.paper, "released"),
            standardized_mean_difference(data.before, values, data.paper),
            paper_ci=cell.half,
            digits=3,
        )
        for name, values in after.items()
    ]


def _multiples(metric: str, cell: Cell, data: Scored) -> list[Row]:
    """The printed half width in units of each standard error it might come from."""
    before, after = data.before, data.released
    n = len(before)
    papers = np.bincount(data.paper)
    first, second = (divide(np.bincount(data.paper, side), papers) for side in (before, after))
    own = np.arange(len(papers))
    paired = standardized_mean_difference(before, after, data.paper, "paper")
    averaged = standardized_mean_difference(first, second, own, "paper")
    clustered = standardized_mean_difference(before, after, data.paper)
    errors = {
        "paired rows": paired.half_width / MULTIPLIER["paper"],
        "independent samples": np.sqrt(2 / n),
        "paired means over references": averaged.half_width / MULTIPLIER["paper"],
        "rows clustered by paper": clustered.half_width / MULTIPLIER["paper"],
    }
    return [
        Row("3", metric, f"half width / SE of {name}", None, point(cell.half / error, n), digits=2)
        for name, error in errors.items()
    ]
