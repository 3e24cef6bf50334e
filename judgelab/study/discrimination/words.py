"""The answer of a discrimination study: what its figures say, for ``answer.md.j2``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs

CHANCE = 0.5
FEWEST = 6
"""Items that a verdict takes: below, no two-sided sign test reaches .05, and intervals rest on the
normal law alone."""
NONE = Estimate(math.nan)
EMPTY: Mapping[str, Estimate] = {}


def answer(
    mechanism: str,
    figures: Mapping[str, Mapping[str, Estimate]],
    *,
    beside: Mapping[str, Estimate],
    attack: str = "",
    change: Mapping[str, Estimate] = EMPTY,
    alone: Mapping[str, Any] | None = None,
    leads: Mapping[str, Estimate] = EMPTY,
    judged: bool = True,
) -> list[tuple[str, str]]:
    """(heading, sentences): what it tells apart, under attack, who is not, what to do.

    Empty where texts are known to be good or bad, or were graded, and there is no figure of it.

    Args:
        mechanism: its name.
        figures: ``statistics.figures`` of each panel; ``change`` of them under the attack.
        beside: ``statistics.beside``.
        alone: ``statistics.alone``, of an attack by some agents alone.
        leads: problematic agent -> good agents' mean score less its own.
        judged: whether somebody said which texts are good: by categories of agents, or grades.
    """
    auc, attacked = (figures.get(panel, {}).get("auc", NONE) for panel in ("clean", "attacked"))
    agreement = beside.get("human_within", NONE)
    first = auc if not math.isnan(auc.value) else agreement
    if judged and math.isnan(first.value):
        return []
    alike = [name for name, one in leads.items() if one.low <= 0 <= one.high]
    return paragraphs(
        __package__,
        "answer.md.j2",
        mechanism=mechanism,
        judged=judged,
        auc=auc,
        agreement=agreement,
        of=_side(first),
        needed=_needed(first),
        fewest=FEWEST,
        beside=beside,
        more_than_length=_more_than_length(beside),
        attack=attack,
        attacked=attacked,
        change=change.get("auc", NONE),
        d=change.get("effect_size", NONE),
        changes=change,
        alone=alone,
        above=[name for name, one in leads.items() if one.high < 0],
        alike=alike,
        apart_from=_items_apart([leads[name] for name in alike]),
    )


def _side(one: Estimate) -> str:
    if one.n < FEWEST:
        return "few"
    return "above" if one.low > CHANCE else "below" if one.high < CHANCE else "open"


def _needed(one: Estimate) -> int:
    """Items that would show it, if it is what it seems: intervals shrink with n^.5; 0: unknown."""
    off = abs(one.value - CHANCE)
    half = one.value - one.low if one.value > CHANCE else one.high - one.value
    if not off > 0 or not math.isfinite(half):
        return 0
    return max(math.ceil(one.n * (half / off) ** 2), one.n + 1)


def _items_apart(gaps: list[Estimate]) -> int | None:
    """Items that would tell agents from good ones; 0: none would, None: some of them."""
    needed = [
        math.ceil(one.n * ((one.value - one.low) / one.value) ** 2) for one in gaps if one.value > 0
    ]
    return max(needed) if len(needed) == len(gaps) and gaps else None if needed else 0


def _more_than_length(beside: Mapping[str, Estimate]) -> bool | None:
    """Whether it is shown to do more than length; None where nothing is known of length."""
    gain = beside.get("auc_gain", beside.get("human_within_gain", NONE))
    length = beside.get("length_auc", beside.get("length_human_within", NONE))
    if math.isnan(gain.low):
        return None if math.isnan(length.value) else False
    return gain.low > 0
