"""Pairs of texts of which one is edited: how often does a judge prefer it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.attack.protocol import Attack
from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.audit.graded import as_pairs, places

Places = NDArray[np.intp]
Texts = Sequence[str | None]
NO_TEXTS = "study.manipulate needs the texts, two of an item at least: these data have none."


@dataclass(frozen=True)
class Duels:
    """One pair of texts of each item, drawn; and which of the two is edited, drawn as well.

    Attributes:
        panel: the items alone, all texts with them.
        edited, other: [items] columns of the two texts.
        cluster: [items] numbers from 0; items of one document are not independent.
    """

    panel: Panel
    edited: Places
    other: Places
    cluster: Places

    def after(self, attack: Attack, writer: EvaluationLM, seed: int) -> list[str | None]:
        """[items] the texts after an attack; None where it did not change one as it claims to."""
        rows = zip(self.panel.texts, self.edited, strict=True)
        texts = [str(row[column]) for row, column in rows]
        alone = self._with(texts, [{column} for column in self.edited.tolist()])
        attacked = attack.apply(alone, writer, seed=seed).texts
        edits = [row[column] for row, column in zip(attacked, self.edited, strict=True)]
        return [
            None if new is None or attack.check(old, new) else new
            for old, new in zip(texts, edits, strict=True)
        ]

    def posed(self, context: Context, texts: Texts, edit: str) -> Panel:
        """The question to a judge, as its mechanism reads texts: which is better, after an edit?

        Both texts of every item; to a mechanism that needs peers, among all texts of the item. An
        item whose text is None has no question.
        """
        everybody = set(range(len(self.panel.agents)))
        among_all = context.mechanism.subject == "pair"
        kept = [
            set() if text is None else everybody if among_all else {one, two}
            for text, one, two in zip(texts, self.edited.tolist(), self.other.tolist(), strict=True)
        ]
        facts = {**self.panel.provenance, "attack": edit}
        return context.read(replace(self._with(texts, kept), provenance=facts))

    def won(self, context: Context, texts: Texts, edit: str) -> Floats:
        """[items] share of the orders in which the edited text wins; NaN without a verdict.

        Mechanisms that compare are asked in both orders; scores are compared by their sign.
        """
        data = context.measure(self.posed(context, texts, edit))
        rows = np.arange(len(self.edited))
        if "verdict" in data:
            verdict = data["verdict"].transpose("item", "agent", "peer").values
            first = verdict[rows, self.edited, self.other]
            second = 1 - verdict[rows, self.other, self.edited]
            return np.asarray((first + second) / 2, np.float64)
        score = context.score(data).agent.transpose("item", "agent").values
        gap = score[rows, self.edited] - score[rows, self.other]
        return np.asarray((np.sign(gap) + 1) / 2, np.float64)

    def _with(self, texts: Texts, kept: Sequence[set[int]]) -> Panel:
        """The panel with the edited texts, and of each item these columns alone."""
        rows = zip(self.panel.texts, self.edited, texts, kept, strict=True)
        made = tuple(
            tuple(
                (new if k == edited else text) if k in own else None for k, text in enumerate(row)
            )
            for row, edited, new, own in rows
        )
        return replace(self.panel, texts=made)


def drawn_duels(panel: Panel, table: JudgmentTable, most: int | None, seed: int) -> Duels:
    """A pair of each item that was judged, of no more than so many items.

    Raises:
        DataError: there are no pairs of texts, or judgments are categories, which compare nothing.
    """
    pairs = as_pairs(table)
    at, held = places(pairs, panel)
    units: dict[int, list[int]] = {}
    for unit in np.flatnonzero(held).tolist():
        units.setdefault(int(at[unit, 0]), []).append(unit)
    items = sorted(units)
    if most is not None and len(items) > most:
        rng = rng_for(seed, "manipulation")
        items = sorted(rng.choice(items, size=most, replace=False).tolist())
    if not items:
        raise DataError(NO_TEXTS)
    drawn: list[tuple[int, int, int]] = []
    for item in items:
        rng = rng_for(seed, "manipulation", panel.items[item].id)
        unit = units[item][int(rng.integers(len(units[item])))]
        _, one, two = at[unit].tolist()
        drawn.append((unit, one, two) if rng.random() < 0.5 else (unit, two, one))
    unit_of, edited, other = np.array(drawn, np.intp).T
    cluster = np.unique(pairs.clusters[unit_of], return_inverse=True)[1]
    only = replace(
        panel,
        items=tuple(panel.items[item] for item in items),
        texts=tuple(panel.texts[item] for item in items),
        judgments=None,
    )
    return Duels(only, edited, other, cluster.astype(np.intp))
