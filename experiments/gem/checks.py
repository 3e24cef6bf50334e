"""What the printed tables say about one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal

import numpy as np
from scipy import stats

from experiments.command import point
from experiments.gem.printed import Cell, Printed
from experiments.peer_prediction.rows import Row, Table
from judgelab.stats.discrimination.effect_size import verdict
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate

ROUNDING = 0.0005
"""How far a number printed with three digits may be off."""

COPIED = {
    "Sentence Deletion": "GPT-4o Rephrase",
    "Deletion & Completion": "Llama3.1 Rephrase",
    "Abstract-only Review": "Meaningless Elongation",
}
"""Degradation of Table 3 -> manipulation of Table 4 in the same place."""

ROWS = 600
"""Behind every cell of Tables 3, 4 and 8: two references for each of 300 papers."""

DIFFERENCES = ("3", "4", "8", "9", "11", "12", "13", "14")
FAMILY = {
    "3": ("GEM", "GEM-S"),
    "8": ("GEM (Llama Preprocessing)", "GEMS (Llama Preprocessing)"),
}


def sizes_behind_p(printed: Printed) -> Table:
    """How many rows make the p of Table 1 that of its correlation? Text: about 180.

    p is Student's t of r with n - 2 degrees of freedom; brackets are the n that rounding of r
    and p leaves open.
    """
    n = np.arange(4, 1001)
    rows, common = [], np.ones(len(n), dtype=np.bool_)
    for metric, (r, p) in printed.table1.items():
        off = 5 * 10.0 ** (int(Decimal(str(p)).as_tuple().exponent) - 1)
        near, far = (np.maximum(abs(r) + side, 0) for side in (-ROUNDING, ROUNDING))
        possible = (_p(far, n) <= p + off) & (_p(near, n) >= p - off)
        common &= possible
        if possible.any():
            low, high = int(n[possible][0]), int(n[possible][-1])
            found = Estimate((low + high) / 2, low, high, 1)
            rows.append(Row("1", metric, "n behind p", None, found, digits=0))
    shared = n[common]
    note = (
        f"All cells agree on n = {shared[0]} to {shared[-1]}."
        if len(shared)
        else "No n gives the p of all cells."
    )
    return Table("1", "correlation with grades: n that p implies", tuple(rows), (note,))


def _p(r: float, n: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    return np.asarray(2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def copied_cells(printed: Printed) -> Table:
    """The degradations of GEM-raw are the manipulations of GEM-raw, interval and all."""
    degraded, manipulated = printed.cells("3")["GEM-raw"], printed.cells("4")["GEM-raw"]
    rows = tuple(
        Row(
            "3=4",
            "GEM-raw",
            f"{degradation} (3) = {manipulation} (4)",
            degraded[degradation].d,
            _estimate(manipulated[manipulation]),
            paper_ci=degraded[degradation].half,
            digits=3,
        )
        for degradation, manipulation in COPIED.items()
    )
    same = sum(degraded[d] == manipulated[m] for d, m in COPIED.items())
    note = f"{same} of {len(rows)} cells of Table 3 are those of Table 4 to the last digit."
    return Table("3=4", "GEM-raw in Table 3 (paper) and Table 4 (released)", rows, (note,))


def constant_ratio(printed: Printed) -> Table:
    """d of GEM-raw over d of BARTScore-recall: log P(y) cancels, so it must be one constant.

    The intervals are what rounding leaves open. corrected: the d of GEM-raw that its manipulations
    and the d of BARTScore-recall imply.
    """
    manipulations = _ratios(printed, "4")
    low = max(each.low for each in manipulations.values())
    high = min(each.high for each in manipulations.values())
    rows = [
        Row("raw/recall", f"Table 4, {name}", "ratio", None, ratio, digits=2)
        for name, ratio in manipulations.items()
    ]
    for name, ratio in _ratios(printed, "3").items():
        recall = printed.cells("3")["BARTScore-recall"][name].d
        ends = sorted(
            constant * (recall + off) for constant in (low, high) for off in (-ROUNDING, ROUNDING)
        )
        middle = recall * (low + high) / 2
        rows += [
            Row("raw/recall", f"Table 3, {name}", "ratio", None, ratio, digits=2),
            Row(
                "raw/recall",
                f"Table 3, {name}",
                "d of GEM-raw",
                printed.cells("3")["GEM-raw"][name].d,
                None,
                Estimate(middle, ends[0], ends[-1], 1),
                digits=3,
            ),
        ]
    note = (
        f"The manipulations agree on a ratio of {low:.2f} to {high:.2f}; the degradations "
        "contradict it where theirs lies outside."
    )
    title = "d of GEM-raw / d of BARTScore-recall, a constant by construction"
    return Table("raw/recall", title, tuple(rows), (note,))


def symmetric_intervals(printed: Printed) -> Table:
    """Are the printed intervals d +- something? Largest |middle - d| of each table."""
    rows = []
    for table in DIFFERENCES:
        off = [abs((c.low + c.high) / 2 - c.d) for _, _, c in _every(printed, table)]
        rows.append(
            Row(
                "+-",
                f"Table {table}",
                "largest |middle - d|",
                None,
                point(max(off), len(off)),
                digits=4,
            )
        )
    note = f"Rounding alone allows {2 * ROUNDING:.3f}. n counts cells."
    return Table("+-", "printed intervals are symmetric about d", tuple(rows), (note,))


def significance(printed: Printed, factor: float) -> Table:
    """Tables 3 and 8 of GEM and GEM-S with half widths times ``factor``.

    ``factor`` turns 1.645 standard errors over rows into an interval over papers; it is measured on
    ROUGE-L and BLEU (the larger of the two), so for other metrics it is a guess. d itself cannot
    be computed anew, so ``corrected`` has an interval alone.
    """
    rows, lost = [], []
    for table, metrics in FAMILY.items():
        for metric in metrics:
            for name, cell in printed.cells(table)[metric].items():
                ends = cell.d - factor * cell.half, cell.d + factor * cell.half
                wide = Estimate(math.nan, *ends, ROWS)
                label = f"Table {table}, {metric}"
                rows.append(Row("3/8", label, name, cell.d, None, wide, cell.half, digits=3))
                if verdict("fall", _estimate(cell), None) != verdict("fall", wide, None):
                    lost.append(f"{label}, {name}")
    note = f"Half widths times {factor:.2f}. No longer significant: {'; '.join(lost) or 'none'}."
    title = "degradations of GEM with 95 % intervals over papers (corrected)"
    return Table("3/8", title, tuple(rows), (note,))


def resistance(printed: Printed) -> Table:
    """Which metrics have no significant increase in Table 4? The text says GEM and GEM-S only."""
    rows = []
    firm = []
    for metric, cells in printed.cells("4").items():
        rises = [verdict("no_rise", _estimate(cell), None) == "rises" for cell in cells.values()]
        rows.append(
            Row("4", metric, "significant increases", None, point(sum(rises), len(rises)), digits=0)
        )
        if not any(rises):
            firm.append(metric)
    note = f"By the printed intervals no manipulation raises {', '.join(firm)}."
    return Table("4", "manipulations that raise a metric, of three", tuple(rows), (note,))


def _ratios(printed: Printed, table: str) -> Mapping[str, Estimate]:
    cells = printed.cells(table)
    return {
        name: _ratio(cell.d, cells["BARTScore-recall"][name].d)
        for name, cell in cells["GEM-raw"].items()
    }


def _ratio(top: float, bottom: float) -> Estimate:
    """A quotient of rounded numbers of which the lower one is not 0, and what it may be."""
    ends = [(top + a) / (bottom + b) for a in (-ROUNDING, ROUNDING) for b in (-ROUNDING, ROUNDING)]
    return Estimate(top / bottom, min(ends), max(ends), 1)


def _estimate(cell: Cell) -> Estimate:
    return Estimate(cell.d, cell.low, cell.high, ROWS)


def _every(printed: Printed, table: str) -> Iterator[tuple[str, str, Cell]]:
    for metric, cells in printed.cells(table).items():
        for name, cell in cells.items():
            yield metric, name, cell
