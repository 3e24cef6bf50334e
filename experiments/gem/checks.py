"""What the printed tables say about one another."""

from __future__ import annotations

from experiments.command import Row, Table, point
from experiments.gem.printed import Cell, Printed
from judgelab.stats.discrimination.effect_size import verdict
from judgelab.stats.intervals.estimate import Estimate

COPIED = {
    "Sentence Deletion": "GPT-4o Rephrase",
    "Deletion & Completion": "Llama3.1 Rephrase",
    "Abstract-only Review": "Meaningless Elongation",
}
"""Degradation of Table 3 -> manipulation of Table 4 in the same place."""

ROWS = 600  # behind every cell of Tables 3, 4 and 8: two references for each of 300 papers


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


def _estimate(cell: Cell) -> Estimate:
    return Estimate(cell.d, cell.low, cell.high, ROWS)
