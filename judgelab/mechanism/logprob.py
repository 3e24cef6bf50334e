"""Log-probabilities of texts: all ordered pairs of a panel, and questions asked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from judgelab.calls.log import About
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import measured, with_calls
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism, Subject

if TYPE_CHECKING:
    import xarray as xr

DELIMITERS = {
    "translation": "Translations:\n",
    "summarization": "Summaries:\n",
    "peer_review": "Reviews:\n",
}
OTHER_DELIMITER = "Responses:\n"


def delimiter_for(task: str) -> str:
    """The heading that precedes the texts (as released, one per task)."""
    return DELIMITERS.get(task, OTHER_DELIMITER)


@dataclass(frozen=True)
class LogprobMechanism(Mechanism):
    """Reads its scores off the log-probabilities of all ordered pairs."""

    measurement: ClassVar[str] = "logprob"
    subject: ClassVar[Subject] = "pair"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """All ordered pairs and marginals: M texts cost M(M-1) + M log-probabilities an item."""
        return measure_logprob(panel, lm, delimiter_for(panel.task))


def measure_logprob(
    panel: Panel,
    lm: EvaluationLM,
    delimiter: str,
    partner: NDArray[np.int64] | None = None,
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
    n, m = len(panel.items), len(panel.agents)
    draws = 0 if partner is None else partner.shape[1]
    conditional = np.full((n, m, m), np.nan)
    marginal, tokens = np.full((n, m), np.nan), np.full((n, m), np.nan)
    negative = np.full((n, m, m, draws), np.nan)
    for k in range(n):
        sources = [k, *(partner[k] if partner is not None else [])]
        block, base, lengths = _item(panel, lm, delimiter, k, sources)
        conditional[k], marginal[k], tokens[k] = block[0], base, lengths
        negative[k] = np.moveaxis(block[1:], 0, -1)
    pair = ("item", "agent", "peer")
    data = measured(
        panel,
        conditional=(pair, conditional),
        marginal=(("item", "agent"), marginal),
        tokens=(("item", "agent"), tokens),
    )
    if partner is not None:
        ids = np.array([item.id for item in panel.items])
        data["negative"] = ((*pair, "draw"), negative)
        data["partner"] = (("item", "draw"), ids[partner])
    pairs = np.concatenate([conditional[..., None], negative], axis=3)
    return with_calls(data, *_asked(panel, partner, marginal, pairs))


def _asked(
    panel: Panel,
    partner: NDArray[np.int64] | None,
    marginal: NDArray[np.float64],
    pairs: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """[calls, 3] item, agent and peer of every call (agent twice for a text alone), and [calls].

    ``pairs`` is [item, agent, peer, source], the first source being the item itself.
    """
    there = np.array([[text is not None for text in row] for row in panel.texts], dtype=np.bool_)
    sources = np.arange(len(there))[:, None]
    if partner is not None:
        sources = np.concatenate([sources, partner], axis=1)
    both = there[:, :, None, None] & np.swapaxes(there[sources], 1, 2)[:, None]
    both &= ~np.eye(there.shape[1], dtype=np.bool_)[:, :, None]
    alone = np.argwhere(there)[:, [0, 1, 1]]
    cells = np.concatenate([alone, np.argwhere(both)[:, :3]])
    return cells, np.concatenate([marginal[there], pairs[both]])


def _item(
    panel: Panel, lm: EvaluationLM, delimiter: str, k: int, sources: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """One item's [source, agent, peer] conditionals, [agent] marginals and lengths."""
    m = len(panel.agents)
    targets = panel.texts[k]
    present = [i for i in range(m) if targets[i] is not None]
    contexts, pairs, cells = [delimiter], [(0, i) for i in present], []
    for s, source in enumerate(sources):
        for j, text in enumerate(panel.texts[source]):
            if text is None:
                continue
            contexts.append(f"{delimiter}{text}\n")
            for i in present:
                if i != j:
                    pairs.append((len(contexts) - 1, i))
                    cells.append((s, i, j))
    texts = [text or "" for text in targets]
    table = lm.logprob(contexts, texts, pairs)
    names, own = [agent.name for agent in panel.agents], ("", panel.items[k].id)
    abouts = [(*own, names[i]) for i in present] + [(*own, names[i], names[j]) for _, i, j in cells]
    lm.about(contexts, texts, pairs, abouts)
    base, lengths = np.full(m, np.nan), np.full(m, np.nan)
    base[present] = table.total[: len(present)]
    lengths[present] = table.tokens[: len(present)]
    block = np.full((len(sources), m, m), np.nan)
    if cells:
        block[tuple(np.array(cells).T)] = table.total[len(present) :]
    return block, base, lengths


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
