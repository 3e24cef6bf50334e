"""What a qualification says: facts for ``answer.md.j2`` and ``notes.md.j2``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Value
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.tables import read_back
from judgelab.study.common.templates import paragraphs, sentences
from judgelab.study.qualification.case import Case
from judgelab.study.qualification.pools import EVERYBODY, HUMAN
from judgelab.study.qualification.recorded import is_recorded

MOSTLY = 0.5
"""Above this share of ties, consistency comes from them."""

ENOUGH = 6
"""Items with which flips of their signs can give p <= .05, if all lean one way."""

DOUBTFUL = (0.05, 0.95)
"""Between these shares of resamples passed, noise has a part in the pass."""


def answer(summary: Mapping[str, Value]) -> list[tuple[str, str]]:
    """(heading, sentences): who qualifies, what that is worth, what to do."""
    return paragraphs(
        __package__,
        "answer.md.j2",
        judges=summary["judges"],
        left=summary["pool/judges"],
        pool=summary["pool"],
        asked_nothing=summary["pool"] == EVERYBODY,
        accuracy=read_back(summary, "pool/accuracy"),
        everybody=read_back(summary, "all/accuracy"),
        agreement=read_back(summary, "pool/agreement"),
    )


def notes(context: Context, panel: Panel, case: Case, by: Mapping[str, str]) -> list[str]:
    """Data, judges, and whatever limits what the numbers mean.

    Args:
        by: judge -> mechanism by which it is asked, where that is not the run's.
    """
    origin, named, pool = panel.provenance, case.responses.named, case.chosen
    ways: dict[str, list[str]] = {}
    for judge in case.responses.judges:
        ways.setdefault(by.get(judge, context.mechanism.name), []).append(judge)
    human = any(one.name == HUMAN for one in case.pools)
    return sentences(
        __package__,
        "notes.md.j2",
        dataset=origin.get("dataset", "unnamed"),
        where=origin.get("domain") or origin.get("source") or "as given",
        items=len(panel.items),
        pairs=len(case.responses.pairs),
        ways=ways,
        recorded=is_recorded(context),
        facts=case.responses.facts,
        exams=[_exam_facts(case, exam) for exam in case.marks],
        enough=ENOUGH,
        nobody=not pool.members.any(),
        pool=pool.name,
        same_list=pool.same_list,
        missing=case.missing,
        known=case.known,
        unpriced=named(np.isnan(case.responses.cost)),
        no_annotation_cost=math.isnan(case.annotation_cost) and human,
    )


def _exam_facts(case: Case, exam: str) -> dict[str, Any]:
    """Who was excused, who fails by controls, and what noise or ties decide."""
    marks, taken, named = case.marks[exam], case.responses.taken[exam], case.responses.named
    value = marks.found.value
    known, judges = value[~np.isnan(value)], case.responses.judges
    alike = len(known) > 1 and np.ptp(known) < 1e-12 and np.isclose(known[0], marks.bar, rtol=0)
    control = case.responses.controls.get(exam, {}).get("length")
    by_length = False
    if exam == "self_confidence" and control is not None:
        by_length = control.values(np.ones((1, control.items)))[0, 0] == 1
    return {
        "name": exam,
        "absent": named(~taken),
        "unread": named(np.isnan(value) & taken),
        "alone": named(marks.alone & marks.passed),
        "beaten": [
            (judge, name, marks.leads[name].at(k))
            for k, judge in enumerate(judges)
            if not np.isnan(value[k])
            for name in marks.unbeaten(k)
        ],
        "same": float(known[0]) if alike else math.nan,
        "by_length": by_length,
        "ties": _shares(case, case.responses.tied, MOSTLY) if exam == "consistency" else "",
        "doubtful": _shares(case, marks.p_pass, *DOUBTFUL),
    }


def _shares(case: Case, shares: Floats, above: float, below: float = np.inf) -> str:
    """The judges whose share lies between these, with it."""
    named = zip(case.responses.judges, shares, strict=True)
    return ", ".join(f"{judge} ({share:.2f})" for judge, share in named if above < share < below)
