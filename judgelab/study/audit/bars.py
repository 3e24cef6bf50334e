"""The bars of a verdict, each a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from judgelab.core.bounds import Count

Share = Annotated[float, Field(ge=0, le=1)]

LEVEL = 0.95
"""Of every interval."""
CLASS = 10
"""Labels of a class below which nothing is said of how often it is found."""
AVERAGE = 0.05
"""How far the judge's own share may lie from the corrected one; of a rare class a fifth of it."""
AVERAGE_SD = 0.25
"""The same of grades, in standard deviations of people's grades."""
SAVING = 0.1
"""Share of the labels that a judge must save to be worth a correction."""


@dataclass(frozen=True)
class Bars:
    """What is enough.

    Args:
        labels: fewest labelled items.
        unread: largest share of replies without a verdict.
        below_people: how far below people's agreement with each other a judge may lie, and below
            people's own recall of a class.
        minimum: least agreement, and recall of each class, that the user accepts; needed where
            items have one label, as nobody knows then how far people agree.
        recall: least recall of each class, where it is another.
        position: how far from .5 the share won by the text shown first may lie.
        probe: how far a manipulation may move the judge.
    """

    labels: Count = 30
    unread: Share = 0.05
    below_people: Share = 0.1
    minimum: Share | None = None
    recall: Share | None = None
    position: Share = 0.05
    probe: Share = 0.05
