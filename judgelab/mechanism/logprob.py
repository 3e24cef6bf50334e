"""Log-probabilities of texts: all ordered pairs of a panel, and questions asked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.calls.log import About
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import measured
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism

if TYPE_CHECKING:
    import xarray as xr

DELIMITERS = {
    "translation": "Translations:\n",
    "summarization": "Summaries:\n",
    "peer_review": "Reviews:\n",
}
"""The heading that precedes the texts (as released, one per task)."""


class LogprobMechanism(Mechanism):
    """Reads its scores off the log-probabilities of all ordered pairs."""

    measurement = "logprob"
    subject = "pair"
    requires = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """All ordered pairs and marginals: M texts cost M(M-1) + M log-probabilities an item."""
        return measure_logprob(panel, lm)


def measure_logprob(
    panel: Panel, lm: EvaluationLM, partner: NDArray[np.int64] | None = None
) -> xr.Dataset:
    """log P(text i | text j) within items, log P(text i), and across items where asked.

    Args:
        partner: [items, negatives] indices of the items whose texts stand in for independent
            sources; None for no such measurement.

    Returns:
        ``conditional`` [item, agent, peer]: log P(text of agent | text of peer), nats, summed
        over the text; ``marginal`` [item, agent]: log P(text of agent); ``tokens``
        [item, agent]; and ``negative`` [item, agent, peer, draw]: log P(text of agent | text of
        the peer on a partner item). NaN where a text is absent and on the diagonal.
    """
    delimiter = DELIMITERS.get(panel.task, "Responses:\n")
    n, m = len(panel.items), len(panel.agents)
    draws = 0 if partner is None else partner.shape[1]
    marginal, tokens = np.full((n, m), np.nan), np.full((n, m), np.nan)
    pairs = np.full((n, m, m, 1 + draws), np.nan)  # the first source is the item itself
    names = [agent.name for agent in panel.agents]
    for k, item in enumerate(panel.items):
        questions, places = Questions(), dict[tuple[int, int, int], int]()
        present = [(i, text) for i, text in enumerate(panel.texts[k]) if text is not None]
        for i, text in present:
            places[i, i, 0] = questions.ask(delimiter, text, item.id, names[i])
        for s, source in enumerate([k, *(() if partner is None else partner[k])]):
            for j, before in enumerate(panel.texts[source]):
                context = f"{delimiter}{before}\n"
                for i, text in present if before is not None else ():
                    if i != j:
                        about = (item.id, names[i], names[j])
                        places[i, j, s] = questions.ask(context, text, *about)
        answers = questions.put(lm)
        for (i, j, s), place in places.items():
            total, count = answers[place]
            if i == j:
                marginal[k, i], tokens[k, i] = total, count
            else:
                pairs[k, i, j, s] = total
    pair = ("item", "agent", "peer")
    data = measured(
        panel,
        conditional=(pair, pairs[..., 0]),
        marginal=(("item", "agent"), marginal),
        tokens=(("item", "agent"), tokens),
    )
    if partner is not None:
        ids = np.array([item.id for item in panel.items])
        data["negative"] = ((*pair, "draw"), pairs[..., 1:])
        data["partner"] = (("item", "draw"), ids[partner])
    return data


@dataclass
class Questions:
    """Contexts and targets, each once, and the pairs of them to be scored."""

    _contexts: dict[str, int] = field(default_factory=dict)
    _targets: dict[str, int] = field(default_factory=dict)
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    _abouts: list[About] = field(default_factory=list)

    def ask(self, context: str, target: str, *about: str) -> int:
        """Note a question; returns the place of its answer in what ``put`` gives.

        Args:
            about: item, agent and peer, as far as there are any.
        """
        c = self._contexts.setdefault(context, len(self._contexts))
        t = self._targets.setdefault(target, len(self._targets))
        if (c, t) not in self._pairs:
            self._abouts.append(("", *about))
        return self._pairs.setdefault((c, t), len(self._pairs))

    def put(self, lm: EvaluationLM) -> list[tuple[float, float]]:
        """Ask all of them: (nats summed over the target, its tokens), in order."""
        if not self._pairs:
            return []
        asked = list(self._contexts), list(self._targets), list(self._pairs)
        table = lm.logprob(*asked)
        lm.about(*asked, self._abouts)
        return list(zip(table.total.tolist(), table.tokens.tolist(), strict=True))
