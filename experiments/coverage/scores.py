"""Simulated scores: items are clusters, agents of two groups, people, a second judge, an attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgelab.stats.intervals.arrays import Floats

Law = Literal["normal", "skewed", "discrete", "tied"]
LAWS: tuple[Law, ...] = ("normal", "skewed", "discrete", "tied")
"""Skewed: exponential items and noise. Discrete: five grades. Tied: three, half of all the middle
one, so that agents of an item tie and an attack leaves most scores as they were."""

AGENTS = 6
GOOD = np.arange(AGENTS) < AGENTS // 2


@dataclass(frozen=True)
class Sample:
    """Data sets of one law and size, [sets, items, agents] each."""

    scores: Floats  # of the judge
    other: Floats  # of a second judge on the same texts
    people: Floats  # grades of people
    attacked: Floats  # of the judge after an attack that lowers scores by .3 sd on average

    @property
    def sets(self) -> int:
        """How many data sets there are."""
        return len(self.scores)

    def first(self, sets: int) -> Sample:
        """The first of the data sets alone."""
        parts = (self.scores, self.other, self.people, self.attacked)
        return Sample(*(part[:sets] for part in parts))


def sample(law: Law, sets: int, items: int, seed: int) -> Sample:
    """Data sets whose items share a level among their agents; good agents are better by 1 sd."""
    rng = np.random.default_rng(seed)

    def noise(*shape: int) -> Floats:
        if law == "skewed":
            return np.asarray(rng.exponential(size=shape) - 1)
        return rng.normal(size=shape)

    quality = np.where(GOOD, 0.5, -0.5) + np.linspace(0.2, -0.2, AGENTS)
    level = noise(sets, items, 1)
    text = quality + 0.7 * level + 0.7 * noise(sets, items, AGENTS)
    judge = text + 0.7 * noise(sets, items, AGENTS)
    other = text + noise(sets, items, AGENTS)
    people = text + 0.5 * noise(sets, items, AGENTS)
    attacked = judge - 0.3 + 0.3 * noise(sets, items, 1) + 0.3 * noise(sets, items, AGENTS)
    return Sample(*(_scores_by_law(law, each) for each in (judge, other, people, attacked)))


def _scores_by_law(law: Law, latent: Floats) -> Floats:
    if law == "discrete":
        return np.clip(np.round(3 + latent), 1.0, 5.0)
    if law == "tied":
        return np.clip(np.round(0.6 * latent), -1.0, 1.0)
    return latent
