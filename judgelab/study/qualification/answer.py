"""What an exam of judges found, in a few plain sentences: never louder than its intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judgelab.core.result import Value
from judgelab.study.common.plain import between, counted
from judgelab.study.common.read_back import read_back
from judgelab.study.qualification.pools import EVERYBODY


def answer(summary: Mapping[str, Value]) -> list[tuple[str, str]]:
    """(heading, sentences): who qualifies, what that is worth, what to do."""
    judges, left = (int(str(summary[key])) for key in ("judges", "pool/judges"))
    if not left:
        return [
            ("No judge qualifies", f"None of {judges} passes the exams of pool {summary['pool']}."),
            ("Next", "Ask other judges, or look in the exams at where each fails."),
        ]
    heading = f"{left} of {judges} judges qualify"
    if left == judges:
        heading = "All judges together" if summary["pool"] == EVERYBODY else "All judges qualify"
    chosen, everybody = (read_back(summary, f"{key}/accuracy") for key in ("pool", "all"))
    if math.isnan(chosen.value):
        return [(heading, _agreement(summary)), ("Next", LABEL)]
    pairs = counted(chosen.n, "pair")
    said = f"Together they decide as people do {between(chosen)} ({pairs} of answers)."
    if not chosen.low > CHANCE:
        less = "less" if chosen.high < CHANCE else "not shown to be more"
        said += f" That is {less} often than guessing does."
    if left < judges:
        said += f" All {judges} together do {between(everybody)}. "
        said += (
            "So the exams helped."
            if chosen.low > everybody.high
            else "So the exams hurt."
            if chosen.high < everybody.low
            else "These intervals overlap: that the exams help is not shown."
        )
    return [(heading, said), ("Next", ALONE)]


CHANCE = 0.5
LABEL = "Agreement is not accuracy: label some items and ask study=audit before you rely on them."
ALONE = "Whether one of them can be trusted by itself, study=audit says."


def _agreement(summary: Mapping[str, Value]) -> str:
    pool = read_back(summary, "pool/agreement")
    if math.isnan(pool.value):
        return "How far they agree is not known."
    return f"One of them decides as the pool does {between(pool)}; no labels are known here."
