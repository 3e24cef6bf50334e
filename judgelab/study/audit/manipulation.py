"""Does a manipulated text win more often? Probes on one text of a pair, held against a placebo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from judgelab.attack.protocol import Attack
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.ends import means_within
from judgelab.stats.intervals.estimate import Estimates
from judgelab.stats.trust.biases import items_needed, move_ends
from judgelab.study.audit.bars import LEVEL
from judgelab.study.audit.conditions import Condition, Standing
from judgelab.study.audit.duels import Duels, Texts, drawn_duels
from judgelab.study.common.tables import named_columns as columns
from judgelab.study.common.templates import table as worded

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
        ConfigError: no probe is left.
    """

    probes: Mapping[str, Any]
    placebo: Any
    items: Count | None = 100

    def __post_init__(self) -> None:
        if not self._probes:
            raise ConfigError(
                "study.manipulation.probes is empty: name attacks, or leave study.manipulate=false."
            )

    @property
    def _probes(self) -> dict[str, Attack]:
        return {name: attack for name, attack in self.probes.items() if attack is not None}

    def ask(
        self, context: Context, judges: Mapping[str, Context], panel: Panel, table: JudgmentTable
    ) -> None:
        """Put every question that ``run`` would put."""
        duels, edits = self._posed(context, judges, panel, table)
        for edit, texts in edits:
            for one in judges.values():
                one.measure(duels.posed(one, texts, edit))

    def run(
        self,
        context: Context,
        judges: Mapping[str, Context],
        panel: Panel,
        table: JudgmentTable,
        margin: float,
    ) -> tuple[dict[str, list[Condition]], Table]:
        """Judge -> one condition for each probe; and the table of all.

        Args:
            margin: how far a manipulation may move a judge.

        Raises:
            ConfigError, DataError: nobody can be asked, or there are no pairs of texts.
        """
        duels, edits = self._posed(context, judges, panel, table)
        shares = {
            edit: np.stack([duels.won(one, texts, edit) for one in judges.values()])
            for edit, texts in edits
        }
        each = np.concatenate([shares[name] - shares["placebo"] for name in self._probes])
        moves = means_within(each, duels.cluster, int(duels.cluster.max()) + 1)
        known = ~np.isnan(moves)
        counts = known.sum(axis=1), (~known).sum(axis=1)
        values = Estimates.of(row_means(moves), move_ends(moves, LEVEL), *counts)
        conditions: dict[str, list[Condition]] = {name: [] for name in judges}
        rows: list[Row] = []
        for k, (probe, name) in enumerate(product(self._probes, judges)):
            move, sd = values.at(k), float(np.nanstd(moves[k])) if known[k].any() else np.nan
            standing: Standing = "met" if move.high <= margin else "open"
            standing = "broken" if move.low > margin else standing
            conditions[name].append(Condition("manipulation", probe, move, margin, standing, move))
            row: dict[str, Value] = {"judge": name, "manipulation": probe}
            row |= {"answer": OUTCOMES[standing]} | columns("wins_more", move)
            row |= {"items": move.n, "unscored": move.unscored, "items_needed": None}
            if standing == "open":
                row["items_needed"] = items_needed(sd, margin, alpha=(1 - LEVEL) / 2)
            rows.append(row)
        facts = {"pairs": len(duels.edited), "margin": f"{margin:g}"}
        return conditions, worded(__package__, "manipulation", rows, **facts)

    def _posed(
        self, context: Context, judges: Mapping[str, Context], panel: Panel, table: JudgmentTable
    ) -> tuple[Duels, Iterator[tuple[str, Texts]]]:
        """Pairs of texts; and name and texts after the placebo, and after each probe."""
        if not judges:
            raise ConfigError(NOBODY)
        duels = drawn_duels(panel, table, self.items, context.seed)
        attacks = {"placebo": self.placebo, **self._probes}.items()
        return duels, (
            (name, duels.after(attack, context.writer, context.seed)) for name, attack in attacks
        )
