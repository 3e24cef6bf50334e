"""The sentences a reader of a qualification result must see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from judgelab.core.capability import Capability
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.qualification.case import Case
from judgelab.study.qualification.pools import HUMAN

MOSTLY = 0.5
"""Above this share of ties, consistency comes from them."""

ENOUGH = 6
"""Items with which flips of their signs can give p <= .05, if all lean one way."""

DOUBTFUL = (0.05, 0.95)
"""Between these shares of resamples passed, noise has a part in the pass."""


def notes(context: Context, panel: Panel, case: Case, by: Mapping[str, str]) -> tuple[str, ...]:
    """Data, judges, and whatever limits what the numbers mean.

    Args:
        by: judge -> mechanism by which it is asked, where that is not the run's.
    """
    exams = (said for exam in case.marks for said in _exam(case, exam))
    return (
        *_made_of(context, panel, case, by),
        *exams,
        *_pool(case),
        *case.missing,
        *_limits(panel, case),
    )


def _made_of(context: Context, panel: Panel, case: Case, by: Mapping[str, str]) -> Iterator[str]:
    origin = panel.provenance
    where = origin.get("domain") or origin.get("source") or "as given"
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({where}), {len(panel.items)} items, "
        f"{len(case.responses.pairs)} pairs of answers each."
    )
    ways: dict[str, list[str]] = {}
    for judge in case.responses.judges:
        ways.setdefault(by.get(judge, context.mechanism.name), []).append(judge)
    said = [f"by {way}: {', '.join(who)}" for way, who in ways.items()]
    yield f"Judges, {'; '.join(said)}."
    if Capability.RECORDED in context.evaluation_lm.capabilities:
        yield (
            "All verdicts and exams are recorded ones: no model was asked, and settings of study "
            "and mechanism on how to ask (prompts, length, temperature of replies) had no effect."
        )
    for exam, facts in case.responses.facts.items():
        yield f"Exam {exam}: {', '.join(f'{key}: {value}' for key, value in facts.items())}."


def _exam(case: Case, exam: str) -> Iterator[str]:
    marks, taken = case.marks[exam], case.responses.taken[exam]
    if not taken.all():
        fate = "are excused from it" if case.rules.excused else "fail it"
        yield f"Judges with no recorded answer in {exam} {fate}: {case.responses.named(~taken)}."
    unread = np.isnan(marks.value) & taken
    if unread.any():
        yield f"Judges with no readable answer in {exam} fail it: {case.responses.named(unread)}."
    if (marks.alone & marks.passed).any():
        yield (
            f"Only {case.responses.named(marks.alone)} has a number in {exam}, and a threshold "
            "made from the candidates needs two: it is excused. study.threshold=fixed names one."
        )
    yield from _beside(case, exam)
    if exam == "consistency" and (named := _shares(case, case.responses.tied, MOSTLY)):
        yield (
            "Most of these judges' answers in consistency are ties, which agree without comparing "
            f"anything (share): {named}. Their P_c says little."
        )
    if doubtful := _shares(case, marks.p_pass, *DOUBTFUL):
        yield f"Whether these pass {exam} is decided by noise: {doubtful}."


def _beside(case: Case, exam: str) -> Iterator[str]:
    """What the controls and the threshold mean for the judges."""
    marks = case.marks[exam]
    for k, judge in enumerate(case.responses.judges):
        for name in marks.unbeaten(k) if not np.isnan(marks.value[k]) else ():
            lead = marks.leads[name][k]
            few = f"; {ENOUGH} items are needed to tell" if lead.n < ENOUGH else ""
            yield (
                f"{judge} fails {exam}, as it is no better than the control {name}: lead "
                f"{lead.value:.2f} [{lead.low:.2f}, {lead.high:.2f}], p {lead.p:.2f} on {lead.n} "
                f"items{few}."
            )
    known = marks.value[~np.isnan(marks.value)]
    if len(known) > 1 and np.ptp(known) < 1e-12 and np.isclose(known[0], marks.bar, rtol=0):
        yield (
            f"All judges have {known[0]:.2f} in {exam}, which is the threshold too: it tells none "
            "from another, and none fails by it."
        )
    if exam == "self_confidence" and "length" in case.responses.controls.get(exam, {}):
        control = case.responses.controls[exam]["length"]
        if control.values(np.ones((1, control.items)))[0, 0] == 1:
            yield (
                f"A judge by length passes {exam} too: lengths differ more on the easy pairs. The "
                "exam does not tell here whether a judge is sure for better reasons."
            )


def _shares(case: Case, shares: Floats, above: float, below: float = np.inf) -> str:
    """The judges whose share lies between these, with it."""
    named = zip(case.responses.judges, shares, strict=True)
    return ", ".join(f"{judge} ({share:.2f})" for judge, share in named if above < share < below)


def _pool(case: Case) -> Iterator[str]:
    pool = case.chosen
    if pool.weightless.any():
        yield (
            f"Judges that pass all exams with a weight of 0 (study.weights={case.rules.weighting})"
            f": {case.responses.named(pool.weightless)}."
        )
    if not pool.members.any() and not pool.weightless.any():
        yield "No judge passes all exams: there is no pool of them."
    elif pool.members.any() and pool.same_list < DOUBTFUL[1]:
        yield (
            f"Other items would admit other judges: the pool {pool.name} is the same in "
            f"{pool.same_list:.2f} of the resamples. Its interval 'anew' takes that into account."
        )


def _limits(panel: Panel, case: Case) -> Iterator[str]:
    if not case.known:
        yield (
            "There is no human annotation: exams, pools and agreement say which judges are "
            "consistent, not which are right."
        )
    if other := panel.provenance.get("answers_shown_otherwise"):
        yield (
            f"{other} released answers differ from what the judges were shown: see the dataset's "
            "notes before using graded formats."
        )
    if np.isnan(case.cost).any():
        yield (
            f"No price is known of {case.responses.named(np.isnan(case.cost))}: give "
            "study.prices=FILE or, for models behind an endpoint, budget.prices=FILE."
        )
    if np.isnan(case.annotation_cost) and any(pool.name == HUMAN for pool in case.pools):
        yield (
            "The cost of the annotation is not known, so the human filter has no cost: give "
            "study.annotation_cost=NUMBER."
        )
