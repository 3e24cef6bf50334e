"""The sentences a reader of a qualification result must see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.capability import Capability
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS
from judgelab.study.qualification.pools import HUMAN, same_list

if TYPE_CHECKING:
    from judgelab.study.qualification.case import Case

MOSTLY = 0.5
"""Above this share of ties, consistency rests on them."""

DOUBTFUL = (0.05, 0.95)
"""Between these shares of resamples passed, noise has a say in who passes."""


def notes(context: Context, panel: Panel, case: Case) -> tuple[str, ...]:
    """Data, judges, and whatever limits what the numbers mean."""
    return (*_made_of(context, panel, case), *_exams(case), *_limits(context, panel, case))


def _made_of(context: Context, panel: Panel, case: Case) -> list[str]:
    origin = panel.provenance
    where = origin.get("domain") or origin.get("source") or "as given"
    said = [
        f"Data: {origin.get('dataset', 'unnamed')} ({where}), {len(panel.items)} items, "
        f"{len(case.hearing.pairs)} pairs of answers each.",
        f"Judges, by {context.mechanism.name}: {', '.join(case.hearing.judges)}.",
    ]
    if Capability.RECORDED in context.evaluation_lm.capabilities:
        said.append(
            "All verdicts and exams are recorded ones: no model was asked, and what study and "
            "mechanism say on how to ask (prompts, length and temperature of replies) had no part."
        )
    for exam, facts in case.hearing.facts.items():
        listed = ", ".join(f"{key}: {value}" for key, value in facts.items())
        said.append(f"Exam {exam}: {listed}.")
    return said


def _exams(case: Case) -> list[str]:
    said = []
    for exam, marks in case.marks.items():
        sat = case.hearing.sat[exam]
        absent = [j for j, there in zip(case.hearing.judges, sat, strict=True) if not there]
        if absent:
            fate = "are excused from it" if case.rules.excused else "have failed it"
            said.append(f"No answers in {exam} of {', '.join(absent)}: they {fate}.")
        mute = np.isnan(marks.value) & sat
        if mute.any():
            named = [j for j, none in zip(case.hearing.judges, mute, strict=True) if none]
            said.append(f"No answer in {exam} could be read of {', '.join(named)}: they fail.")
        said += [
            f"Only {judge} has a number in {exam}, and compared with nobody it could not exceed "
            "the bar: it is excused. study.threshold=fixed holds it to a number."
            for judge, alone in zip(case.hearing.judges, marks.alone, strict=True)
            if alone
        ]
        if exam == "consistency":
            said += _tied(case)
        doubtful = [
            f"{judge} ({share:.2f})"
            for judge, share in zip(case.hearing.judges, marks.p_pass, strict=True)
            if DOUBTFUL[0] < share < DOUBTFUL[1]
        ]
        if doubtful:
            said.append(f"Whether these pass {exam} is decided by noise: {', '.join(doubtful)}.")
    if case.chosen.weightless.any():
        weightless = zip(case.hearing.judges, case.chosen.weightless, strict=True)
        said.append(
            f"Passed all exams, but study.weights={case.rules.weighting} gives no weight: "
            f"{', '.join(judge for judge, there in weightless if there)}."
        )
    if not case.chosen.members.any() and not case.chosen.weightless.any():
        said.append("Nobody passes all exams: there is no pool of them.")
    elif case.chosen.members.any() and (share := same_list(case.chosen)) < DOUBTFUL[1]:
        said.append(
            f"Other items would admit others: the pool {case.chosen.name} is the same in "
            f"{share:.2f} of the resamples. Its interval 'anew' takes that into account."
        )
    return said


def _tied(case: Case) -> list[str]:
    pairs = zip(case.hearing.judges, case.hearing.tied, strict=True)
    named = [f"{judge} ({share:.2f})" for judge, share in pairs if share > MOSTLY]
    if not named:
        return []
    return [
        f"Most of what these said in consistency are ties, which agree without comparing anything "
        f"(share): {', '.join(named)}. Their P_c says little."
    ]


def _limits(context: Context, panel: Panel, case: Case) -> list[str]:
    said = list(case.missing)
    if not case.known:
        said.append(
            "There is no human annotation: exams, pools and agreement say who is consistent, not "
            "who is right."
        )
    if other := panel.provenance.get("answers_shown_otherwise"):
        said.append(
            f"{other} released answers differ from what the judges were shown: see the dataset's "
            "notes before using graded formats."
        )
    if len(panel.items) < FEW_ITEMS:
        said.append(f"Only {len(panel.items)} items: intervals are rough below {FEW_ITEMS}.")
    unknown = [j for j, c in zip(case.hearing.judges, case.cost, strict=True) if np.isnan(c)]
    if unknown:
        said.append(
            f"No price is known of {', '.join(unknown)}: give study.prices=FILE or, for models "
            "behind an endpoint, budget.prices=FILE."
        )
    if np.isnan(case.annotation_cost) and any(pool.name == HUMAN for pool in case.pools):
        said.append(
            "Nobody says what the annotation cost, so the human filter has no cost: "
            "study.annotation_cost=NUMBER."
        )
    return said
