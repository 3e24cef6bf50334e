"""What a cheat gains: one agent edits its texts without a look at others' of the same item.

Every edit has a strength t. What pays most on one half of the blocks is tried on the other, both
ways. No edit adds information about the item, so every gain is the mechanism's error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.results import Row
from judgelab.core.panel import Agent, Panel
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.means import item_change
from judgelab.stats.screen.exam import Places, SourceExam, by_item, centre, match_effect
from judgelab.study.screen.case import Critic

PEERS = 4
STRENGTHS = (0.25, 0.5, 0.75, 1.0)
MECHANISMS = ("MI as paid", "MI less other items", "TVD-MI", "shared words")
Words = list[str]
EDITS: Mapping[str, Callable[[Words, Words, int], Words]] = {
    # of the words, the peers' words of all items (commonest first), and t x the number of words
    "said again": lambda words, common, k: [*words, *words[:k]],
    "padded": lambda words, common, k: [*words, *common[:k]],
    "mixed": lambda words, common, k: [*words[: len(words) - k], *common[:k]],
}
LOSES = 20  # k of Theorem 3.3, whose bound fails with a probability of 1/k and the estimator's own


def variants(panel: Panel) -> Panel:
    """Peers, the last agent as it is, and the same by every edit and strength."""
    texts = [[text or "" for text in row] for row in panel.texts]
    words = " ".join(text for *peers, _ in texts for text in peers).casefold().split()
    common = [word for word, _ in Counter(words).most_common()]
    rows = []
    for row in texts:
        own = row[-1].split()
        steps = [round(t * len(own)) for t in STRENGTHS]
        versions = (" ".join(edit(own, common, k)) for edit in EDITS.values() for k in steps)
        rows.append((*row, *versions))
    agents = tuple(Agent(str(k)) for k in range(len(rows[0])))
    return replace(panel, agents=agents, texts=tuple(rows))


def gains(name: str, critics: Sequence[Critic], blocks: Sequence[Places]) -> list[Row]:
    """What the best edit gains, mechanism by mechanism."""
    numbers = range(PEERS, critics[0].scores.shape[1])
    values = np.stack([_payments(critics[:2], blocks, k) for k in numbers], axis=2)
    half = np.isin(np.arange(values.shape[-1]), np.concatenate(list(blocks[::2])))
    labels = ["honest", *(f"{edit} {t:g}" for edit in EDITS for t in STRENGTHS)]
    n, rows = values.shape[-1], list[Row]()
    ceilings = (math.log(2 * LOSES * n**2), math.nan, 1 - 1 / (2 * LOSES * n**2), math.nan)
    for mechanism, (payment, auc), ceiling in zip(MECHANISMS, values, ceilings, strict=True):
        # of each half of the items the variant that pays most on the other
        best = np.where(half, *(row_means(payment[:, one]).argmax() for one in (~half, half)))
        chosen_cells = (best, np.arange(n))
        honest = float(np.nanmean(payment[0]))
        gain = item_change((payment[chosen_cells] - payment[0]) / honest)
        row: Row = {"set": name, "mechanism": mechanism, "honest": honest, "ceiling": ceiling}
        row |= {"best edits": " / ".join(labels[k] for k in dict.fromkeys(best))}
        row |= {"gain": gain.value, "low": gain.low, "high": gain.high}
        rows.append(row | {"AUC lost": float(np.nanmean(auc[0] - auc[chosen_cells]))})
    return rows


def _payments(critics: Sequence[Critic], blocks: Sequence[Places], agent: int) -> Floats:
    """[mechanisms, payment and AUC, items] of one agent with its peers, mean over them."""
    rows = []
    for one in critics:
        each = []
        for peer in range(PEERS):
            cells = one.scores[:, [peer, agent]][:, :, [peer, agent]]
            exam = SourceExam.of(cells, blocks)
            raw = np.einsum("kaii->ki", cells[:, [0, 1], [1, 0]]) / 2
            effect = match_effect(centre(cells)[:, 0, 1])
            plain, shared = (by_item(blocks, x) for x in (raw, effect))
            each.append([plain, shared, exam.hits + exam.rejections - 1, exam.auc])
        *payments, auc = np.nanmean(each, axis=0)
        rows += [np.stack([payment, auc]) for payment in payments]
    return np.stack([*rows[:3], rows[4]])
