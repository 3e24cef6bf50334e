"""Asking about a panel batch by batch, in a random order of its items, until nobody is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel, rng_for
from judgelab.engine.context import Context
from judgelab.engine.listening import Listening
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Mask
from judgelab.study.common.panels import Panels, ScoredPanel, write_replies
from judgelab.study.common.stopping import Stop

if TYPE_CHECKING:
    import xarray as xr

COUNTED = ("calls", "failed_calls", "unread_calls")
"""Attributes of measurements that add up."""

Needed = Callable[[Panels], Mask]
"""[agents] who is needed in the next batch, from what has been asked so far."""


@dataclass(frozen=True)
class AskedInBatches:
    """What was asked of a panel.

    Attributes:
        panels: the items that were asked about, in the order in which they were.
        who: [those items, agents] whose texts were shown.
        items: in all.
    """

    panels: dict[str, ScoredPanel]
    who: Mask
    items: int


def ask_in_batches(
    context: Context,
    panels: Mapping[str, Panel],
    stop: Stop,
    definition: Definition,
    needed: Needed,
) -> AskedInBatches:
    """What was measured until ``needed`` names no agent any more, or all items are asked.

    Items come in an order that depends on the seed and their ids alone. Texts of an agent that is
    not needed are left out of the panel from then on, so nothing is asked about them. What was
    asked lies in the cache: a run that was ended goes the same way again without asking.

    Args:
        panels: with the same items and agents, texts as written.

    Raises:
        ConfigError: measurements are recorded, so there is nothing to save.
    """
    if Capability.RECORDED in context.evaluation_lm.capabilities:
        raise ConfigError(
            "study.stop saves calls, but recorded measurements take none: leave study.stop out."
        )
    first = next(iter(panels.values()))
    order = item_order(first, context.seed)
    who = np.ones(len(first.agents), dtype=np.bool_)
    found: dict[str, ScoredPanel] = {}
    done, shown = 0, list[Mask]()
    heard = {name: Listening(context.evaluation_lm) for name in panels}
    while done < len(order) and who.any():
        # a rest of few items is no batch: what pairs items would have none to pair
        size = stop.batch if len(order) - done >= 2 * stop.batch else len(order) - done
        batch = order[done : done + size]
        for name, panel in panels.items():
            part = context.read(_part(panel, batch, [who] * size))
            measured = replace(context, evaluation_lm=heard[name]).measure(part)
            before = found.get(name)
            if before is not None:
                part, measured = _more(before.panel, part), joined(before.measured, measured)
            found[name] = ScoredPanel(part, measured, context.score(measured, definition))
        done += size
        shown += [who] * size
        who = needed(found)
    for name, panel in panels.items():  # what is said of the texts is to be of all of them
        whole = context.read(_part(panel, order[:done], shown))
        found[name] = replace(found[name], panel=whole)
        write_replies(context, whole, {context.mechanism.name: heard[name]}, name)
    return AskedInBatches(found, np.array(shown, dtype=np.bool_), len(order))


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
    """Measurements of more items below those before; what counts calls adds up."""
    import xarray as xr

    for name in set(before.data_vars) ^ set(more.data_vars):
        # counts of what is missing, which are left out where nothing is
        here, there = (before, more) if name in before else (more, before)
        like = here[name]
        shape = tuple(there.sizes.get(str(dim), like.sizes[dim]) for dim in like.dims)
        filled = there.assign({name: (like.dims, np.zeros(shape, like.dtype))})
        before, more = (before, filled) if name in before else (filled, more)
    both = xr.concat(
        [before, more], "item", data_vars="minimal", coords="minimal", compat="override",
        join="exact", combine_attrs="override",
    )  # fmt: skip
    counts = {
        key: int(before.attrs[key]) + int(more.attrs[key]) for key in COUNTED if key in both.attrs
    }
    return both.assign_attrs(counts)
