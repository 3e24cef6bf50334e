"""Rows of scores as a panel: systems are its agents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item, Panel


@dataclass(frozen=True, slots=True)
class Rated:
    """One text.

    Attributes:
        item, system: which one.
        human: what people gave it; NaN where it is unscored.
        scores: metric -> score; NaN where it is missing.
        text: the text itself; None where the data hold scores alone.
    """

    item: str
    system: str
    human: float = math.nan
    scores: Mapping[str, float] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RatedSource:
    """What a text was written from, and a human reference; empty where unknown."""

    text: str = ""
    reference: str | None = None


def rated_panel(
    rows: Iterable[Rated],
    sources: Mapping[str, RatedSource],
    limit: int | None,
    where: str,
    **provenance: object,
) -> Panel:
    """Items and systems in the order of first appearance, the first ``limit`` items.

    Args:
        rows: one for each text.
        sources: item -> source; an item that is absent has none.
        limit: None for all items.
        where: the file or dataset, for messages.
        provenance: facts to be kept; ``content`` (a hash) and ``rows`` are added.

    Raises:
        DataError: a text is rated twice, or there is none.
    """
    table: dict[str, dict[str, Rated]] = {}
    systems: dict[str, None] = {}
    for row in rows:
        cells = table.setdefault(row.item, {})
        if row.system in cells:
            raise DataError(
                f"{where}: item {row.item!r} and system {row.system!r} occur twice: "
                "keep one row for each."
            )
        cells[row.system] = row
        systems[row.system] = None
    kept = dict(list(table.items())[:limit])
    if not kept:
        raise DataError(f"{where} holds no scored texts.")
    panel = Panel(
        items=tuple(
            _item(name, cells, sources.get(name, RatedSource())) for name, cells in kept.items()
        ),
        agents=tuple(Agent(name) for name in systems),
        texts=tuple(
            tuple(cells[name].text if name in cells else None for name in systems)
            for cells in kept.values()
        ),
        provenance=provenance,
    )
    return replace(panel, provenance={**provenance, "rows": len(kept), "content": panel.digest})


def _item(name: str, cells: Mapping[str, Rated], source: RatedSource) -> Item:
    metrics = dict.fromkeys(metric for cell in cells.values() for metric in cell.scores)
    scores = {m: _known({s: c.scores.get(m, math.nan) for s, c in cells.items()}) for m in metrics}
    human = _known({system: cell.human for system, cell in cells.items()})
    return Item(name, source.text, source.reference, human=human, scores=scores)


def _known(scores: Mapping[str, float]) -> dict[str, float]:
    return {system: score for system, score in scores.items() if not math.isnan(score)}
