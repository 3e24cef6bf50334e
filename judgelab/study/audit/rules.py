"""What counts as trust: the bars of a verdict, each a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from judgelab.core.bounds import Count

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class TrustRules:
    """The bars of a verdict.

    Args:
        alpha: 1 - confidence of every test and interval.
        labels: fewest labelled items.
        unparsed: largest share of missing verdicts.
        gain: a judge whose gain over the best control is surely below it is not trusted.
        below_ceiling: how far agreement may lie below people's agreement with each other.
        minimum: with one rater there is no ceiling: the least agreement that the user accepts;
            null: then the best verdict is trust after correction.
        winning: winning rate of the alternative annotator test that is enough, too.
        mean: how far the judge's mean may lie from the corrected one, of rates and preferences.
        mean_sd: the same of grades, in standard deviations of people's grades.
        position: how far from .5 the share won by the text shown first may lie.
        probe: how far a manipulation may move the judge.
        saving: least share of labels that the judge must save to be worth a correction.
    """

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    labels: Count = 30
    unparsed: Share = 0.05
    gain: Share = 0.05
    below_ceiling: Share = 0.1
    minimum: Share | None = None
    winning: Share = 0.5
    mean: Share = 0.05
    mean_sd: Share = 0.25
    position: Share = 0.05
    probe: Share = 0.05
    saving: Share = 0.1


def gain_bar(room: float, rules: TrustRules) -> float:
    """Gain over a control below which a judge is not trusted: ``rules.gain``, where there is room.

    Where a control is right on 97 of 100 (a rare category) a perfect judge gains 3: no more than
    half of what is left is asked for, or what ``rules.gain`` is of what random leaves.
    """
    return min(rules.gain, room * max(0.5, 2 * rules.gain)) if room == room else rules.gain
