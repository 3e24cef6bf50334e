"""Tables beside the answer: where judges and people differ, and what stands folded away."""

from __future__ import annotations

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import average_ranks
from judgelab.stats.trust.annotators import EPSILON, alternative_annotator_test
from judgelab.stats.trust.biases import length_bias
from judgelab.study.audit.held import Held
from judgelab.study.common.templates import table as worded

MOST = 1000
"""Rows that are kept."""


def disagreements(held: Held, judges: list[str]) -> Table:
    """Texts or pairs on which judge and people differ, the worst first.

    Of classes those that the judge calls positive and people do not come first; of grades the
    largest difference, on people's scale, or in ranks where the judge has another.
    """
    table, units = held.table, held.table.units
    truth, values = table.truth, table.values[[table.names.index(name) for name in judges]]
    off = np.stack([_off(table, truth, each) for each in values])
    differ = np.nansum(off > 0, axis=0)
    size = np.nan_to_num(off).max(axis=0, initial=0.0)
    passed = np.zeros(len(units))
    if table.kind == "category" and table.positive in table.levels:
        good = table.levels.index(table.positive)
        passed = ((values == good) & (truth != good) & ~np.isnan(truth)).sum(axis=0)
    names = zip(units.item, units.first, units.second, strict=True)
    ranks = zip(-passed, -differ, -size, map("\0".join, names), range(len(units)), strict=True)
    order = [rank[-1] for rank in sorted(ranks) if rank[1] < 0]
    rows: list[Row] = []
    for k in order[:MOST]:
        row: dict[str, Value] = {"item": str(units.item[k])}
        if len(set(units.first)) > 1 or table.kind == "preference":
            row["text"] = str(units.first[k])
        if table.kind == "preference":
            row["other_text"] = str(units.second[k])
        row["people_say"] = _spelled(table, float(truth[k]), k)
        if len(judges) == 1:
            row["judge_says"] = _spelled(table, float(values[0, k]), k)
        else:
            row |= {"judges_that_differ": int(differ[k]), "of_judges": len(judges)}
        rows.append(row)
    facts = {"passed": bool(passed.any()), "most": MOST, "all": len(order)}
    return worded(__package__, "disagreements", rows, several=len(judges) > 1, **facts)


def _off(table: JudgmentTable, truth: Floats, value: Floats) -> Floats:
    """[units] how far the judge is from people, 0 where it says the same; NaN not known."""
    known = ~np.isnan(truth) & ~np.isnan(value)
    if table.kind == "category":
        return np.where(known, truth != value, np.nan)
    if table.kind == "preference":
        side = np.abs(truth - value)
        return np.where(truth == 0.5, 0.0, np.where(side > 0.25, side, 0.0))
    people = table.labels[~np.isnan(table.labels)]
    inside = value[known].size and value[known].min() >= people.min() - 1e-9
    if inside and value[known].max() <= people.max() + 1e-9:
        gap = np.abs(truth - value)
        return np.where(gap >= max(0.25 * np.ptp(people), 1e-9), gap, 0.0)
    ranks = [
        average_ranks(np.where(known, x, np.nan)) / max(known.sum(), 1) for x in (truth, value)
    ]
    gap = np.abs(ranks[0] - ranks[1])
    return np.where(gap >= 0.25, gap, np.where(known, 0.0, np.nan))


def _spelled(table: JudgmentTable, value: float, k: int) -> Value:
    if np.isnan(value):
        return None
    if table.kind == "category":
        return table.levels[int(value)]
    if table.kind == "grade":
        return round(value, 3)
    if value == 0.5:
        return "tie"
    name = str((table.units.first if value > 0.5 else table.units.second)[k])
    share = max(value, 1 - value)
    return name if share == 1 else f"{name} ({share:.0%})"


def details(held: Held) -> list[Table]:
    """Tables that no answer needs."""
    return [_annotators(held), _length(held)]


def _annotators(held: Held) -> Table:
    """May the judge take the place of one of the people (Calderon et al., 2501.10970)?"""
    table, rows = held.table, list[Row]()
    for k, name in enumerate(table.names if held.double.any() else ()):
        if held.off_scale(k):
            continue  # on another scale distance means nothing
        values = table.values[k]
        found = alternative_annotator_test(
            values, held.judged(k), table.labels, held.cluster, grades=table.kind == "grade"
        )
        if found is not None:
            won = {"winning_rate": found.winning_rate, "average_advantage": found.advantage}
            rows.append({"judge": name, **won, "people_tested": found.tested, "items": found.n})
    return worded(__package__, "annotators", rows, epsilon=f"{EPSILON:g}")


def _length(held: Held) -> Table:
    table, rows = held.table, list[Row]()
    if table.kind == "preference" and not np.isnan(table.units.words).all():
        for name, verdicts in zip(table.names, table.verdicts, strict=True):
            bias = length_bias(verdicts, table.truth, table.units.words, held.cluster)
            row: Row = {"judge": name, "effect": bias.effect, "standard_error": bias.error}
            beside = {"agreement": bias.agreement, "at_equal_length": bias.controlled}
            rows.append({**row, **beside, "verdicts": bias.n, "refused": bias.refused or None})
    return worded(__package__, "length", rows)
