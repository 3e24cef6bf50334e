"""Table 2: effect size d between Good Faith and Problematic agents, by domain and mechanism.

d is paired over items: D_k = mean u of the Good Faith agents of item k - mean u of the
Problematic ones, d = mean_k D / sd_k D.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.command import Row, Table
from experiments.peer_prediction import baseline
from experiments.peer_prediction.domain import Domain, FloatArray
from experiments.peer_prediction.failed_calls import effect_size_bounds
from experiments.peer_prediction.rows import MECHANISMS, absent, cell, names_of
from experiments.peer_prediction.scores import (
    GOOD_FAITH,
    PROBLEMATIC,
    agent_scores,
    cases,
    group_mask,
)
from judgelab.core.errors import DataError
from judgelab.stats.discrimination.effect_size import group_difference, paired_effect_size
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind

DRAWS = 2000  # bootstrap resamples, as in the released code


def interval_of(*, corrected: bool) -> Kind:
    """Intervals that hold, or the release's percentile bootstrap over items."""
    return "items" if corrected else "percentile"


def differences(data: Domain, scores: FloatArray | None, *, corrected: bool) -> FloatArray | None:
    """D [items]: Good Faith minus Problematic mean of u; None without scores."""
    if scores is None:
        return None
    good = group_mask(data, GOOD_FAITH, corrected=corrected)
    bad = group_mask(data, PROBLEMATIC, corrected=corrected)
    return group_difference(scores, good, bad)


def effect(data: Domain, mechanism: str, *, corrected: bool) -> Estimate | None:
    """d of one mechanism with its interval and sign-flip p; None where it was not run."""
    scores = agent_scores(data, mechanism, corrected=corrected)
    difference = differences(data, scores, corrected=corrected)
    if difference is None:
        return None
    return paired_effect_size(difference, draws=DRAWS, interval=interval_of(corrected=corrected))


def extremes(data: Domain, mechanism: str) -> tuple[float, float] | None:
    """Worst and best case of d for the failed calls; None where there are none."""
    both = cases(data, mechanism)
    ends = [differences(data, scores, corrected=True) for scores, _ in both]
    return effect_size_bounds(*ends) if ends else None  # type: ignore[arg-type]


def table2(domains: Sequence[Domain]) -> Table:
    """Every clean domain at hand, then those that only the paper has."""
    rows: list[Row] = []
    notes: list[str] = []
    for data in domains:
        released, corrected, note = _baselines(data)
        rows.append(cell("2", data.domain, "Baseline", released, corrected))
        notes += note
        for column, mechanism in MECHANISMS.items():
            values = [effect(data, mechanism, corrected=fixed) for fixed in (False, True)]
            rows.append(cell("2", data.domain, column, *values, cases=extremes(data, mechanism)))
    if lacking := absent("2", rows):
        notes.append(f"No recorded scores of {names_of(lacking)} in this folder.")
    rows += lacking
    title = "effect size d between Good Faith and Problematic agents"
    return Table("2", title, tuple(rows), tuple(notes))


def _baselines(data: Domain) -> tuple[Estimate | None, Estimate | None, list[str]]:
    try:
        panel = data.panel()
    except DataError as cause:
        return None, None, [f"No baseline for {data.domain}: {cause}"]
    if not panel.agents:
        return None, None, [f"No baseline for {data.domain}: the folder has no responses."]
    good, bad = (group_mask(data, groups, corrected=False) for groups in (GOOD_FAITH, PROBLEMATIC))
    released = baseline.released_baseline(panel, good, bad)
    good, bad = (group_mask(data, groups, corrected=True) for groups in (GOOD_FAITH, PROBLEMATIC))
    return released, baseline.corrected_baseline(panel, good, bad, draws=DRAWS), []
