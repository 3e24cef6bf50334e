"""Pairs of texts of which one is edited: how often does a judge prefer it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.attack.protocol import Attack
from judgelab.core.judgments import JudgmentTable
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.audit.graded import as_pairs, places

Places = NDArray[np.intp]
Texts = Sequence[str | None]


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

    def __len__(self) -> int:
        return len(self.edited)

    @property
    def clusters(self) -> int:
        """How many."""
        return int(self.cluster.max(initial=-1)) + 1

    def texts(self) -> list[str]:
        """[items] the texts to be edited, as they are."""
        rows = zip(self.panel.texts, self.edited, strict=True)
        return [str(row[column]) for row, column in rows]

    def after(self, attack: Attack, writer: EvaluationLM, seed: int) -> list[str | None]:
        """[items] the texts after an attack; None where it did not change one as it claims to."""
        alone = self._with(self.texts(), only=[{column} for column in self.edited.tolist()])
        rows = attack.apply(alone, writer, seed=seed).texts
        made = [row[column] for row, column in zip(rows, self.edited, strict=True)]
        return [
            None if new is None or attack.check(old, new) else new
            for old, new in zip(self.texts(), made, strict=True)
        ]

    def posed(self, texts: Texts, *, among_all: bool, **provenance: object) -> Panel:
        """The question: both texts of every item, or these among all texts of the item.

        An item whose text is None has no question.
        """
        pairs = zip(self.edited.tolist(), self.other.tolist(), strict=True)
        everybody = set(range(len(self.panel.agents)))
        shown = [everybody if among_all else {one, two} for one, two in pairs]
        kept = [set() if text is None else own for own, text in zip(shown, texts, strict=True)]
        return self._with(texts, only=kept, **provenance)

    def _with(self, texts: Texts, only: Sequence[set[int]], **provenance: object) -> Panel:
        rows = zip(self.panel.texts, self.edited, texts, only, strict=True)
        made = tuple(
            tuple(
                (new if k == edited else text) if k in kept else None for k, text in enumerate(row)
            )
            for row, edited, new, kept in rows
        )
        facts = {**self.panel.provenance, **provenance}
        return replace(self.panel, texts=made, provenance=facts, judgments=None)


def drawn_duels(panel: Panel, table: JudgmentTable, most: int | None, seed: int) -> Duels | None:
    """A pair of each item that was judged, of no more than so many items; None without texts.

    Raises:
        DataError: the judgments are categories, which compare nothing.
    """
    pairs = as_pairs(table)
    at, held = places(pairs, panel)
    units: dict[int, list[int]] = {}
    for unit in np.flatnonzero(held):
        units.setdefault(int(at[unit, 0]), []).append(int(unit))
    rows = sorted(units)
    if most is not None and len(rows) > most:
        rng = rng_for(seed, "manipulation")
        rows = sorted(rng.choice(rows, size=most, replace=False).tolist())
    if not rows:
        return None
    drawn = [_drawn(panel.items[row].id, units[row], at, seed) for row in rows]
    of_unit, edited, other = (np.array(one, dtype=np.intp) for one in zip(*drawn, strict=True))
    clusters = np.unique(pairs.clusters[of_unit], return_inverse=True)[1]
    only = replace(
        panel,
        items=tuple(panel.items[row] for row in rows),
        texts=tuple(panel.texts[row] for row in rows),
        judgments=None,
    )
    return Duels(only, edited, other, clusters.astype(np.intp))


def won(context: Context, duels: Duels, texts: Texts, edit: str = "") -> Floats:
    """[items] share of the orders in which the edited text wins; NaN where a verdict is missing.

    Mechanisms that compare are asked in both orders; scores of texts are compared by their sign.
    """
    data = context.measure(posed_to(context, duels, texts, edit))
    rows = np.arange(len(duels))
    if "verdict" in data:
        verdict = data["verdict"].transpose("item", "agent", "peer").values
        first = verdict[rows, duels.edited, duels.other]
        second = 1 - verdict[rows, duels.other, duels.edited]
        return np.asarray((first + second) / 2, np.float64)
    score = context.score(data).agent.transpose("item", "agent").values
    gap = score[rows, duels.edited] - score[rows, duels.other]
    return np.asarray((np.sign(gap) + 1) / 2, np.float64)


def posed_to(context: Context, duels: Duels, texts: Texts, edit: str = "") -> Panel:
    """The panel that the judge's mechanism is asked about, as it reads texts."""
    among_all = context.mechanism.subject == "pair"
    facts = {"attack": edit} if edit else {}
    return context.read(duels.posed(texts, among_all=among_all, **facts))


def _drawn(item: str, units: list[int], at: Places, seed: int) -> tuple[int, int, int]:
    """Unit, column of the text to be edited, column of the other."""
    rng = rng_for(seed, "manipulation", item)
    unit = units[int(rng.integers(len(units)))]
    _, one, two = at[unit].tolist()
    return (unit, one, two) if rng.random() < 0.5 else (unit, two, one)
