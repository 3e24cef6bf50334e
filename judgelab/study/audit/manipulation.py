"""Does a manipulated text win more often? Probes on one text of a pair, held against a placebo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from judgelab.attack.protocol import Attack
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.result import Row, Table
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.ends import LEVEL, means_within
from judgelab.stats.intervals.estimate import Estimates
from judgelab.stats.trust.agreement import Places
from judgelab.stats.trust.biases import move_ends
from judgelab.study.audit.asking import Inquiry, only, verdicts_of
from judgelab.study.audit.evidence import Condition, Standing
from judgelab.study.audit.graded import as_pairs, places
from judgelab.study.common.tables import named_columns as columns
from judgelab.study.common.templates import table as worded

Texts = Sequence[str | None]
NOBODY = (
    "study.manipulate needs judges that can be asked now (study.judges, or mechanism and "
    "evaluation_lm): recorded verdicts do not tell what a judge would have said."
)
OUTCOMES: Mapping[Standing, str] = {
    "broken": "falls", "met": "does not fall", "open": "not known yet"
}  # fmt: skip


@dataclass(frozen=True)
class Manipulation:
    """One text of a pair, drawn, is attacked; the other stays, so that both are equally good.

    Args:
        probes: name -> attack; null: left out. What writes its texts is the run's writer.
        placebo: an edit that changes nothing; what it moves is no answer to an attack.
        items: pairs that are tried, one of an item, drawn; null: of all items.

    Raises:
        ConfigError: no probe is left, or one has the placebo's name.
    """

    probes: Mapping[str, Any]
    placebo: Any
    items: Count | None = 100

    def __post_init__(self) -> None:
        probes = {name: attack for name, attack in self.probes.items() if attack is not None}
        object.__setattr__(self, "probes", probes)
        if not probes:
            raise ConfigError(
                "study.manipulation.probes is empty: name attacks, or leave study.manipulate=false."
            )
        if "placebo" in probes:
            raise ConfigError(
                "study.manipulation.probes.placebo: this name is the control's, which every probe "
                "is held against. Give the probe another name, or set the control itself by "
                "study.manipulation.placebo."
            )

    def ask(
        self, context: Context, judges: Sequence[Inquiry], panel: Panel, table: JudgmentTable
    ) -> None:
        """Put every question that ``run`` would put."""
        duels, edits = self._posed(context, judges, panel, table)
        for edit, texts in edits:
            for one in judges:
                one.context.measure(duels.posed(one.context, texts, edit))

    def run(
        self,
        context: Context,
        judges: Sequence[Inquiry],
        panel: Panel,
        table: JudgmentTable,
        margin: float,
    ) -> tuple[dict[str, list[Condition]], Table]:
        """Judge -> one condition for each probe; and the table of all (ConfigError, DataError:
        nobody can be asked, or there are no pairs of texts).

        ``margin``: how far a manipulation may move a judge.
        """
        duels, edits = self._posed(context, judges, panel, table)
        placebo, *edited = (
            np.stack([duels.won(one, texts, edit) for one in judges]) for edit, texts in edits
        )
        moves = means_within(np.concatenate([won - placebo for won in edited]), duels.cluster)
        has_move = ~np.isnan(moves)
        counts = has_move.sum(axis=1), (~has_move).sum(axis=1)
        values = Estimates.of(row_means(moves), move_ends(moves, LEVEL), *counts)
        conditions, rows = defaultdict[str, list[Condition]](list), list[Row]()
        for k, (probe, judge) in enumerate(product(self.probes, judges)):
            move = values.at(k)
            one = Condition("manipulation", probe, move, margin, move)
            conditions[judge.name].append(one)
            rows.append(
                {"judge": judge.name, "manipulation": probe, "answer": OUTCOMES[one.standing]}
                | columns("wins_more", move)
                | {"items": move.n, "unscored": move.unscored}
            )
        facts = {"pairs": len(duels.edited), "margin": f"{margin:g}"}
        return conditions, worded(__package__, "manipulation", rows, **facts)

    def _posed(
        self, context: Context, judges: Sequence[Inquiry], panel: Panel, table: JudgmentTable
    ) -> tuple[Duels, Iterator[tuple[str, Texts]]]:
        """Pairs of texts; and name and texts after the placebo, and after each probe."""
        if not judges:
            raise ConfigError(NOBODY)
        duels = drawn_duels(panel, table, self.items, context.seed)
        edits, writer = {"placebo": self.placebo, **self.probes}, context.writer("attack")
        texts = ((name, duels.after(one, writer, context.seed)) for name, one in edits.items())
        return duels, texts


@dataclass(frozen=True)
class Duels:
    """One pair of texts of each item, drawn; and which of the two is edited, drawn as well."""

    panel: Panel  # the items alone, all texts with them
    edited: Places  # edited, other: [items] columns of the two texts
    other: Places
    cluster: Places  # [items] numbers from 0; items of one document are not independent

    def after(self, attack: Attack, writer: EvaluationLM, seed: int) -> list[str | None]:
        """[items] the texts after an attack; None where it did not change one as it claims to."""
        columns = self.edited.tolist()
        before = [str(row[k]) for row, k in zip(self.panel.texts, columns, strict=True)]
        attacked = attack.apply(self._with(before, [{k} for k in columns]), writer, seed=seed)
        after = [row[k] for row, k in zip(attacked.texts, columns, strict=True)]
        return [
            None if new is None or attack.check(old, new) else new
            for old, new in zip(before, after, strict=True)
        ]

    def posed(self, context: Context, texts: Texts, edit: str) -> Panel:
        """The question to a judge, as its mechanism reads texts: which is better, after an edit?

        Both texts of every item; to a mechanism that needs peers, among all texts of the item. An
        item whose text is None has no question.
        """
        pairs = [{*pair} for pair in np.column_stack([self.edited, self.other]).tolist()]
        if context.mechanism.subject == "pair":
            pairs = [set(range(len(self.panel.agents)))] * len(pairs)
        agents = [set() if text is None else own for text, own in zip(texts, pairs, strict=True)]
        facts = {**self.panel.provenance, "attack": edit}
        return context.read(replace(self._with(texts, agents), provenance=facts))

    def won(self, judge: Inquiry, texts: Texts, edit: str) -> Floats:
        """[items] share of the orders in which the edited text wins; NaN without a verdict."""
        at = np.column_stack([np.arange(len(self.edited)), self.edited, self.other])
        panel = self.posed(judge.context, texts, edit)
        verdicts, _ = verdicts_of(judge.context, panel, at, "preference", judge.name)
        return np.asarray(verdicts.mean(axis=1), np.float64)

    def _with(self, texts: Texts, agents: Sequence[set[int]]) -> Panel:
        """The panel with the edited texts, and of each item these agents alone."""
        rows = [list(row) for row in self.panel.texts]
        for row, edited, new in zip(rows, self.edited.tolist(), texts, strict=True):
            row[edited] = new
        edits = replace(self.panel, texts=tuple(map(tuple, rows)))
        return only(edits, dict(enumerate(agents)))


def drawn_duels(panel: Panel, table: JudgmentTable, most: int | None, seed: int) -> Duels:
    """A pair of each item that was judged, of no more than so many items (DataError: there are no
    pairs of texts, or judgments are categories, which compare nothing)."""
    pairs = as_pairs(table)
    at, whole = places(pairs, panel)
    units = defaultdict[int, list[int]](list)
    for unit in np.flatnonzero(whole).tolist():
        units[int(at[unit, 0])].append(unit)
    items = sorted(units)
    if not items:
        raise DataError(
            "study.manipulate needs the texts, two of an item at least: these data have none."
        )
    if most is not None and len(items) > most:
        rng = rng_for(seed, "manipulation")
        items = sorted(rng.choice(items, size=most, replace=False).tolist())
    duels = list[tuple[int, int, int]]()
    for item in items:
        rng = rng_for(seed, "manipulation", panel.items[item].id)
        unit = units[item][int(rng.integers(len(units[item])))]
        _, one, two = at[unit].tolist()
        duels.append((unit, one, two) if rng.random() < 0.5 else (unit, two, one))
    unit_of, edited, other = np.array(duels, np.intp).T
    cluster = np.unique(pairs.clusters[unit_of], return_inverse=True)[1].astype(np.intp)
    rows, texts = (tuple(panel.items[k] for k in items), tuple(panel.texts[k] for k in items))
    only = replace(panel, items=rows, texts=texts, judgments=None)
    return Duels(only, edited, other, cluster)
