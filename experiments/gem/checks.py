"""What the printed tables say about one another."""

from __future__ import annotations

import math
from collections.abc import Mapping

from experiments.command import point
from experiments.gem.printed import Cell, Printed
from experiments.peer_prediction.rows import Row, Table
from judgelab.stats.discrimination.effect_size import verdict
from judgelab.stats.intervals.estimate import Estimate

ROUNDING = 0.0005  # how far a number printed with three digits may be off

COPIED = {
    "Sentence Deletion": "GPT-4o Rephrase",
    "Deletion & Completion": "Llama3.1 Rephrase",
    "Abstract-only Review": "Meaningless Elongation",
}
"""Degradation of Table 3 -> manipulation of Table 4 in the same place."""

ROWS = 600  # behind every cell of Tables 3, 4 and 8: two references for each of 300 papers

FAMILY = {
    "3": ("GEM", "GEM-S"),
    "8": ("GEM (Llama Preprocessing)", "GEMS (Llama Preprocessing)"),
}


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
