"""Who judged: where each judge's judgments come from, what is missing of them, and the cost."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgelab.core.judgments import JudgeFacts
from judgelab.core.result import PageSection, Row, Table, Value
from judgelab.study.audit.part import AuditCase
from judgelab.study.common.judges import NamedJudge, spent

NOTE = (
    "Missing: asked for, and without a verdict. Calls and tokens are those of verdicts alone, "
    "each question once; of the cost of probes and exams, as of retries, manifest.json has the "
    "account."
)
SECTION = PageSection("Who judged?", ["judges"])


def judge_table(case: AuditCase, prices: str | None, judges: Mapping[str, NamedJudge]) -> Table:
    """One row a judge, controls last.

    Args:
        prices: price list; None for ours.
        judges: those of the study, who may have prices of their own.

    Raises:
        DataError: the price list cannot be read.
    """
    table = case.table
    rows: list[Row] = []
    for one, verdicts, asked in zip(table.judges, table.verdicts, table.asked, strict=True):
        wanted = int(asked.sum())
        lost = int((asked & np.isnan(verdicts)).sum())
        why = table.reasons.get(one.name, {})
        rows.append(
            {
                "judge": one.name,
                "origin": _origin(one, case),
                "mechanism": one.mechanism or None,
                "model": one.model or None,
                "family": one.family or None,
                "verdicts": wanted - lost,
                "missing": lost,
                "missing_because": "; ".join(f"{k} ({n:,})" for k, n in why.items()) or None,
                **_spent(one.name, case, prices, judges),
            }
        )
    rows.sort(key=lambda row: row["origin"] == "control")
    return Table("judges", "Who judged", rows, NOTE)


def _origin(one: JudgeFacts, case: AuditCase) -> str:
    if one.control:
        return "control"
    if one.name not in case.asked:
        return "in the data"
    return "asked" if one.model else "computed"  # by a mechanism that asks no LM


def _spent(
    name: str, case: AuditCase, prices: str | None, judges: Mapping[str, NamedJudge]
) -> dict[str, Value]:
    """Calls, tokens and cost of a judge that was asked."""
    if name not in case.usage:
        return {}
    own = judges[name].price if name in judges else None
    return spent(case.usage[name], case.asked[name].evaluation_lm, own, prices)
