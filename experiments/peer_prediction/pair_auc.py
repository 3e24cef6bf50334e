"""Tables 3 and 5: do pairs of two good agents score above pairs of a good and a bad one?

Positives are pairs of Good Faith agents (the paper's text says Faithful, its code Faithful and
Style), negatives pairs of a Good Faith and a Problematic agent. AUC per item, mean over items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.command import Row, Table
from experiments.peer_prediction.domain import Domain, FloatArray
from experiments.peer_prediction.effect_sizes import interval_of
from experiments.peer_prediction.rows import MECHANISMS, absent, cell, names_of, paper
from experiments.peer_prediction.scores import (
    GOOD_FAITH,
    PROBLEMATIC,
    cases,
    group_indices,
    pair_scores,
)
from judgelab.stats.discrimination.auc import macro_auc, pair_auc
from judgelab.stats.intervals.estimate import Estimate

DRAWS = 1000  # bootstrap resamples, as in the released code

FAITHFUL_ONLY = " (Faithful only)"
"""Ending of the extra columns whose positives are the Faithful category, as the text says."""


def auc(
    data: Domain,
    mechanism: str,
    *,
    corrected: bool,
    balanced: bool = False,
    positive: Sequence[str] = GOOD_FAITH,
) -> Estimate | None:
    """Mean AUC over items; None where the mechanism was not run.

    ``balanced`` down-samples the larger class of each item, seeded by the item's id.
    """
    scores = pair_scores(data, mechanism, corrected=corrected)
    if scores is None:
        return None
    items = _per_item(data, mechanism, scores, positive, balanced)
    return macro_auc(items, draws=DRAWS, interval=interval_of(corrected=corrected))


def extremes(
    data: Domain, mechanism: str, positive: Sequence[str] = GOOD_FAITH
) -> tuple[float, float] | None:
    """The mean AUC in the worst and the best case for the failed calls; None without any.

    The cases are those of the difference of the groups' means.
    """
    ends = [
        float(np.nanmean(_per_item(data, mechanism, scores, positive)))
        for _, scores in cases(data, mechanism)
        if scores is not None
    ]
    return (min(ends), max(ends)) if ends else None


def _per_item(
    data: Domain,
    mechanism: str,
    scores: FloatArray,
    positive: Sequence[str],
    balanced: bool = False,
) -> FloatArray:
    good, bad = group_indices(data, positive), group_indices(data, PROBLEMATIC)
    seeds = [int(item) for item in data.ids(mechanism)] if balanced else None
    return pair_auc(scores, good, bad, seeds)


def table3(domains: Sequence[Domain]) -> Table:
    """Every clean domain at hand, then those that only the paper has."""
    rows: list[Row] = []
    for data in domains:
        rows += _cells("3", data.domain, data, balanced=True)
        for column, mechanism in MECHANISMS.items():
            literal = [
                auc(data, mechanism, corrected=fixed, positive=("Faithful",))
                for fixed in (False, True)
            ]
            ends = extremes(data, mechanism, ("Faithful",))
            rows.append(cell("3", data.domain, column + FAITHFUL_ONLY, *literal, cases=ends))
    lacking = absent("3", rows)
    notes = [f"No recorded scores of {names_of(lacking)} in this folder."] if lacking else []
    title = "AUC of Good Faith pairs against Good Faith-Problematic pairs"
    return Table("3", title, (*rows, *lacking), tuple(notes))


def table5(clean: Sequence[Domain], attacked: Sequence[Domain]) -> Table:
    """The attacked domains at hand: no attack, then every attack."""
    of_paper: str = paper()["attacked_domain"]
    rows: list[Row] = []
    by_domain: Mapping[str, Domain] = {data.domain: data for data in clean}
    for domain in sorted({data.domain for data in attacked}, key=lambda name: name != of_paper):
        prefix = "" if domain == of_paper else f"{domain}/"
        if domain in by_domain:
            # The paper copies this row from Table 3; the attacks' rows are not balanced.
            rows += _cells("5", f"{prefix}none", by_domain[domain], balanced=True)
        for data in attacked:
            if data.domain == domain:
                rows += _cells("5", f"{prefix}{data.attack}", data, balanced=False)
    lacking = absent("5", rows)
    notes = [f"No recorded scores of {of_paper} under: {names_of(lacking)}."] if lacking else []
    return Table("5", f"AUC under attack ({of_paper})", (*rows, *lacking), tuple(notes))


def _cells(table: str, row: str, data: Domain, *, balanced: bool) -> list[Row]:
    return [
        cell(
            table,
            row,
            column,
            auc(data, mechanism, corrected=False, balanced=balanced),
            auc(data, mechanism, corrected=True),
            cases=extremes(data, mechanism),
        )
        for column, mechanism in MECHANISMS.items()
    ]
