"""A panel that is asked about part by part, in a random order of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from judgelab.calls.log import LoggedLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.scores import MISSING
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Mask
from judgelab.study.common.panels import ScoredPanel, write_replies

if TYPE_CHECKING:
    import xarray as xr

COUNTED = ("calls", "failed_calls", "unread_calls")
"""Attributes of measurements that add up."""


@dataclass
class PanelByParts:
    """Panels with the same items and agents, whose items are asked about a few at a time.

    Items come in an order that depends on the seed and their ids alone. What was asked lies in the
    cache: a run that was ended goes the same way again without asking.

    Args:
        context: in which they are measured and scored.
        panels: texts as written.
        definition: of the scores.

    Attributes:
        parts: what was asked of each panel so far, in the order in which it was.
    """

    context: Context
    panels: Mapping[str, Panel]
    definition: Definition
    parts: dict[str, ScoredPanel] = field(default_factory=dict, init=False)
    _shown: list[Mask] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        first = next(iter(self.panels.values()))
        self._order = item_order(first, self.context.seed)
        self._lms = {name: LoggedLM(self.context.evaluation_lm, texts=True) for name in self.panels}

    def ask(self, turns: range, who: Mask) -> None:
        """Ask about the items of these turns, with the texts of these agents [agents].

        Texts of other agents are left out of the panel, so nothing is asked about them.
        """
        batch = self._order[turns.start : turns.stop]
        for name, panel in self.panels.items():
            part = self.context.read(_part(panel, batch, [who] * len(batch)))
            context = replace(self.context, evaluation_lm=self._lms[name])
            measured = context.measure(part, panel)
            before = self.parts.get(name)
            if before is not None:
                part, measured = _more(before.panel, part), joined(before.measured, measured)
            scores = self.context.score(measured, self.definition)
            self.parts[name] = ScoredPanel(part, measured, scores)
        self._shown += [who] * len(batch)

    def finish(self) -> dict[str, ScoredPanel]:
        """What was asked, with the replies on disk; what is said of the texts is of all of them."""
        for name, panel in self.panels.items():
            whole = self.context.read(_part(panel, self._order[: len(self._shown)], self._shown))
            self.parts[name] = replace(self.parts[name], panel=whole)
            logs = {self.context.mechanism.name: self._lms[name].log}
            write_replies(self.context, whole, logs, name)
        return self.parts


def item_order(panel: Panel, seed: int) -> list[int]:
    """Places of the items, shuffled; an item's turn does not depend on where the data have it."""
    turn = [rng_for(seed, "stop", item.id).random() for item in panel.items]
    return [int(k) for k in np.argsort(turn, kind="stable")]


def _part(panel: Panel, items: Sequence[int], who: Sequence[Mask]) -> Panel:
    """Some items, with the texts of the agents that are needed for each."""
    texts = tuple(
        tuple(text if kept else None for text, kept in zip(panel.texts[k], mask, strict=True))
        for k, mask in zip(items, who, strict=True)
    )
    return replace(panel, items=tuple(panel.items[k] for k in items), texts=texts)


def _more(before: Panel, part: Panel) -> Panel:
    return replace(part, items=before.items + part.items, texts=before.texts + part.texts)


def joined(before: xr.Dataset, more: xr.Dataset) -> xr.Dataset:
    """Measurements of more items below those before; what counts calls adds up.

    What one of the two did not measure is NaN there: unscored is never 0. But where ``missing``
    calls are not counted, none is missing.
    """
    import xarray as xr

    for name in set(before.data_vars) ^ set(more.data_vars):
        here, there = (before, more) if name in before else (more, before)
        shape = tuple(there.sizes.get(str(d), here.sizes[d]) for d in here[name].dims)
        empty = np.zeros(shape, np.int64) if name == MISSING else np.full(shape, np.nan)
        own = {dim: here[dim] for dim in here[name].dims if dim in here.coords and dim != "item"}
        filled = there.assign_coords(own).assign({name: (here[name].dims, empty)})
        before, more = (before, filled) if name in before else (filled, more)
    both = xr.concat(
        [before, more], "item", data_vars="minimal", coords="minimal", compat="override",
        join="exact", combine_attrs="override",
    )  # fmt: skip
    counts = {
        key: int(before.attrs[key]) + int(more.attrs[key]) for key in COUNTED if key in both.attrs
    }
    return both.assign_attrs(counts)
