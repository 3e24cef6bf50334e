"""May a ranking be believed? The agents that say something, and what is known without people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.screen.belief import Belief, features
from judgelab.study.screen.case import ScreenCase

Standing = Literal["believed", "not believed", "unknown", "few"]


@dataclass(frozen=True)
class Bar:
    """What a ranking has to reach: tau with a probability, by a belief; none reaches it without."""

    belief: Belief | None
    tau: float
    probability: float


@dataclass(frozen=True)
class RankingBelief:
    """What is known of the ranking of a case."""

    case: ScreenCase
    bar: Bar

    @cached_property
    def features(self) -> Mapping[str, float]:
        """See ``stats.screen.belief.features``."""
        case, chosen = self.case, self.case.ranked
        if case.screened is None or len(chosen) < 3:
            return {}
        critics = [row_means(one[:, chosen].T) for one in case.effects.values()]
        return features(case.screened.effect[:, chosen], case.words[chosen], critics)

    @property
    def tau(self) -> float:
        """Predicted Kendall's tau with people's means."""
        belief = self.bar.belief
        return belief.tau(self.features) if belief and self.features else math.nan

    @property
    def probability(self) -> float:
        """That tau reaches the bar."""
        belief, least = self.bar.belief, self.bar.tau
        return belief.probability(self.features, least) if belief and self.features else math.nan

    @property
    def most(self) -> float:
        """That tau reaches the bar, of a ranking without a fault: stable over items, nothing to do
        with length, agreed on by all critics."""
        faultless = {"reliability": 1.0, "length": 0.0, "critics": 1.0}
        return self.bar.belief.probability(faultless, self.bar.tau) if self.bar.belief else math.nan

    @property
    def standing(self) -> Standing:
        """Whether a ranking is shown."""
        if len(self.case.ranked) < 3:
            return "few"
        if math.isnan(self.probability):
            return "unknown"
        return "believed" if self.probability >= self.bar.probability else "not believed"
