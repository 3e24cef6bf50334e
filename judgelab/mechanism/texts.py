"""Scores of texts: each by itself, or against its peers' texts or a reference."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import GIVE_REFERENCES, Agent, Item, Panel
from judgelab.core.scores import PAIR, TEXT, Scores, mean_over, measured, symmetric, weaker_of_two
from judgelab.core.step import present
from judgelab.mechanism.protocol import Definition, Mechanism

if TYPE_CHECKING:
    import xarray as xr

TextScore = Callable[[str, Item, Agent], float]
Compare = Callable[[str, str], float]


class TextMechanism(Mechanism):
    """Measures ``value`` [item, agent], which is the score."""

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself; a pair is as good as its weaker text."""
        value = measured["value"]
        return Scores(agent=value, pair=weaker_of_two(value))


@dataclass(frozen=True)
class ReferenceMechanism(TextMechanism):
    """Compares a text with the item's reference; where no item has one, with agents' texts."""

    # where neither items nor agents are references, hold texts against all other agents'
    peers: bool = field(default=False, kw_only=True)
    reads = "raw"
    measurement = "text"
    subject = "pair"
    bounds = (0.0, 1.0)

    @abstractmethod
    def comparison(self) -> Compare:
        """How a text is held against its reference."""

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent] where any item has a reference text (NaN for those without); else
        ``directed`` [item, agent, peer] for the pairs that are judged (GEM paper, section 4). In
        [0, 1]; NaN where a text is absent. A ConfigError where there are no references, and
        ``peers`` does not take others for them."""
        return self.measure_part(panel, panel, lm, seed=seed)

    def measure_part(self, part: Panel, whole: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """The same; whether ``value`` or ``directed`` is a matter of the whole panel's items."""
        compare = self.comparison()
        if any(item.reference is not None for item in whole.items):

            def one(text: str, item: Item, agent: Agent) -> float:
                return np.nan if item.reference is None else compare(text, item.reference)

            return measure_texts(part, one)
        if not self.peers and not any(agent.reference for agent in part.agents):
            raise ConfigError(
                f"mechanism={self.name} holds texts against references, and neither an item nor an "
                f"agent is one: {GIVE_REFERENCES}, or say that texts are to be held against the "
                "other agents' (mechanism.peers=true)."
            )
        scores = {cell: compare(x, y) for cell, x, y in judged_texts(part)}
        return measured(part, directed=(PAIR, scores))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        if "directed" in measured:
            return score_directed(measured["directed"])
        return super().score(measured, definition)


def count_runs(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n tokens occurs."""
    return Counter(zip(*(tokens[k:] for k in range(n)), strict=False))


def count_shared(one: Counter[Any], other: Counter[Any]) -> int:
    """How many of the one's occurrences the other has too."""
    return sum(min(one[key], other[key]) for key in one.keys() & other.keys())


def measure_texts(panel: Panel, score: TextScore) -> xr.Dataset:
    """``value`` [item, agent]: ``score`` of every present text; NaN for absent ones."""
    values = {
        (i, j): score(text, panel.items[i], panel.agents[j])
        for (i, j), text in present(panel).items()
    }
    return measured(panel, value=(TEXT, values))


def judged_pairs(panel: Panel) -> NDArray[np.bool_]:
    """[agent, peer] whether agent's text is scored against peer's: candidates against references
    (GEM paper, section 4.2), and where the panel marks none, all against all others (4.1)."""
    return reference_pairs(np.array([agent.reference for agent in panel.agents], dtype=np.bool_))


def judged_texts(panel: Panel) -> Iterator[tuple[tuple[int, int, int], str, str]]:
    """(item, agent, peer), text of the agent and of the peer, of all pairs that are judged."""
    pairs, texts = np.argwhere(judged_pairs(panel)).tolist(), present(panel)
    for k, (i, j) in product(range(len(panel.items)), pairs):
        if (k, i) in texts and (k, j) in texts:
            yield (k, i, j), texts[k, i], texts[k, j]


def reference_pairs(reference: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """``judged_pairs`` from [agent] whether it is a reference, where the panel is not at hand."""
    alone = ~np.eye(len(reference), dtype=np.bool_)
    return ~reference[:, None] & reference[None, :] if reference.any() else alone


def score_directed(directed: xr.DataArray, diagnostics: dict[str, float] | None = None) -> Scores:
    """An agent's score is the mean of f(x, y) over its peers (GEM paper, section 4.1); the pair
    score is the symmetrised f where both directions were scored, else the weaker agent's score."""
    agent = mean_over(directed, "peer")
    both = symmetric(directed)
    return Scores(
        agent=agent,
        pair=both if bool(both.notnull().any()) else weaker_of_two(agent),
        diagnostics=diagnostics or {},
        directed=directed,
    )
