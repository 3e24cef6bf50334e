"""What stands folded away: the alternative annotator test, length, error rates."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.stats.trust.annotators import EPSILON, alternative_annotator_test
from judgelab.stats.trust.biases import length_bias
from judgelab.study.audit.held import Held
from judgelab.study.common.templates import table as worded


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
        if found is None:
            continue
        rows.append(
            {
                "judge": name,
                "winning_rate": found.winning_rate,
                "average_advantage": found.advantage,
                "people_tested": found.tested,
                "items": found.n,
            }
        )
    return worded(__package__, "annotators", rows, epsilon=f"{EPSILON:g}")


def _length(held: Held) -> Table:
    table, rows = held.table, list[Row]()
    if table.kind == "preference" and not np.isnan(table.units.words).all():
        for name, verdicts in zip(table.names, table.verdicts, strict=True):
            bias = length_bias(verdicts, table.truth, table.units.words, held.cluster)
            rows.append(
                {
                    "judge": name,
                    "effect": bias.effect,
                    "standard_error": bias.error,
                    "agreement": bias.agreement,
                    "at_equal_length": bias.controlled,
                    "verdicts": bias.n,
                    "refused": bias.refused or None,
                }
            )
    return worded(__package__, "length", rows)
