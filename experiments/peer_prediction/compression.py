"""Appendix B.1: does |d| first rise and then fall with the compression ratio?

Least squares of |d| on the paper's compression ratios, a line against a parabola, F(1, n - 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.command import Row, Table, point
from experiments.peer_prediction.domain import Domain
from experiments.peer_prediction.effect_sizes import effect
from experiments.peer_prediction.rows import MECHANISMS, digits, paper
from judgelab.stats.discrimination.structure import QuadraticFit, quadratic_against_linear

PRINTED = "Table 2 as printed"
SUPERSEDED = "Table 2 with the released OPUS run"
AT_HAND = "domains at hand"
FIELDS = {"R2 linear": "r2_linear", "R2 quadratic": "r2_quadratic", "p": "p", "peak": "peak"}
FITTED = ("MI", "GPPM", "TVD-MI")

Effects = Mapping[str, float]


def table_b1(domains: Sequence[Domain]) -> Table:
    """Three fits per mechanism: on the printed d, with the older OPUS row, on what is at hand."""
    rows: list[Row] = []
    notes: list[str] = []
    for column in FITTED:
        paper_d = {name: float(cells[column][0]) for name, cells in paper()["table2"].items()}
        released = _effects(domains, column, corrected=False)
        corrected = _effects(domains, column, corrected=True)
        rows += _rows(PRINTED, column, _fit(paper_d), None)
        if "opus" in released:
            rows += _rows(SUPERSEDED, column, _fit({**paper_d, "opus": released["opus"]}), None)
        rows += _rows(AT_HAND, column, _fit(released), _fit(corrected))
    if "opus" not in {data.domain for data in domains}:
        notes.append("No OPUS scores here: B.1's printed fits come from their superseded run.")
    unknown = [d.domain for d in domains if d.domain not in paper()["compression"]]
    if unknown:
        notes.append(f"No compression ratio in the paper for {', '.join(unknown)}: left out.")
    notes.append(
        "Effective rank (the right half of the paper's figure): the release defines it nowhere."
    )
    return Table("B.1", "fits of |d| on compression", tuple(rows), tuple(notes))


def _effects(domains: Sequence[Domain], column: str, *, corrected: bool) -> Effects:
    values = {}
    for data in domains:
        if data.domain in paper()["compression"]:
            estimate = effect(data, MECHANISMS[column], corrected=corrected)
            if estimate is not None:
                values[data.domain] = estimate.value
    return values


def _fit(effects: Effects) -> QuadraticFit:
    ratios = [float(paper()["compression"][name]) for name in effects]
    return quadratic_against_linear(ratios, [abs(value) for value in effects.values()])


def _rows(
    row: str, mechanism: str, released: QuadraticFit, corrected: QuadraticFit | None
) -> list[Row]:
    """n counts domains."""
    rows = []
    for what in FIELDS:
        # What is at hand is another set of domains than the paper's: nothing to compare with.
        number = None if row == AT_HAND else paper()["tableB1"][mechanism].get(what)
        was, now = (
            None if fit is None else point(float(getattr(fit, FIELDS[what])), fit.n)
            for fit in (released, corrected)
        )
        column = f"{mechanism} {what}"
        rows.append(Row("B.1", row, column, number, was, now, digits=digits("B.1", column)))
    return rows
