"""Sentences that could stand in any review and say nothing about any paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FILLERS = (
    "I took this into account while I was reading.",
    "This is mentioned here so that the review is complete.",
    "The remark above should be read together with the one below.",
    "I put this point here because it belongs to this part of the review.",
    "Other readers may of course look at it from another angle.",
    "This concerns the submission in the form in which I received it.",
    "I read the passages in question more than once.",
    "There is not much to add on this particular point.",
    "I return to related points elsewhere in this review.",
    "The order in which I list these points has no meaning.",
    "This is how I understood the text when I went through it.",
    "What I say here is meant as part of the overall picture.",
    "The relevant parts of the submission are where one would look for them.",
    "I have tried to word this as plainly as I can.",
    "As always, this reflects one reading of the manuscript.",
    "The same could be said in other words.",
    "This point came to mind at an early stage of reading.",
    "I kept this in mind for the remainder of the submission.",
    "It fits in with what is said in the neighbouring sentences.",
    "I note it here for the record.",
)


def filler(rng: np.random.Generator) -> Callable[[], str]:
    """Gives one sentence a call, in a drawn order; all of them before any comes again."""
    order = rng.permutation(len(FILLERS))
    given = 0

    def give() -> str:
        nonlocal given
        given += 1
        return FILLERS[order[(given - 1) % len(order)]]

    return give
