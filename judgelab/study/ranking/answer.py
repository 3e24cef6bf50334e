"""What a study of a ranking found, in a few plain sentences: never louder than its intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judgelab.core.result import Value
from judgelab.study.common.plain import between, counted
from judgelab.study.common.read_back import read_back

CHANCE = 0.5
PLAN = "study=plan study.train_run=FOLDER_OF_THIS_RUN study.delta=DIFFERENCE"


def answer(summary: Mapping[str, Value], name: str, confidence: float) -> list[tuple[str, str]]:
    """(heading, sentences): whether it orders systems as people do, how many pairs are sure.

    Args:
        summary: of the study.
        name: of what scores the texts.
        confidence: from which on the order of two systems counts as sure.
    """
    seen, items = read_back(summary, "ranking/agreement"), int(str(summary["n"]))
    sure, pairs = (int(str(summary[f"ranking/{key}"])) for key in ("sure_pairs", "pairs"))
    said = (
        f"{sure} of {pairs} pairs of systems have a sure order on {counted(items)} (confidence of "
        f"{confidence:.0%} or more that {summary['ranking/order_of']} would order them so)."
    )
    if not pairs:
        few = "No two systems have scores of two items in common, so there is no order."
        return [("Nothing to rank", few), ("Next", "Add items, or systems.")]
    if math.isnan(seen.value):
        heading = "All pairs are sure" if sure == pairs else f"{sure} of {pairs} pairs are sure"
        return [(heading, said), ("Next", _next(summary, sure == pairs))]
    heading = (
        "Orders systems as people do more often than chance"
        if seen.low > CHANCE
        else "Orders systems against people"
        if seen.high < CHANCE
        else "Not shown to order systems as people do"
    )
    said = f"{name} orders two systems as people do {between(seen)}. {said}"
    return [(heading, said), ("Next", _next(summary, sure == pairs))]


def _next(summary: Mapping[str, Value], sure: bool) -> str:
    r = read_back(summary, "judge/r")
    if r.high < 0:
        return "Its scores fall where people's rise: use another metric."
    if r.low <= 0:
        return "Its scores are not shown to go along with people's: compare other metrics first."
    if sure:
        return "Report the ranking with its confidences."
    return f"More items make more pairs sure; {PLAN} says how many."
