"""What synopses that are written have in common: one text an item, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.rewrite import Asking, By, account, written

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Written:
    """A synopsis, or the reason why there is none."""

    text: str | None
    reason: str | None = None


NO_SOURCE = Written(None, "the item has no source text")


def ask(
    panel: Panel,
    lm: EvaluationLM,
    name: str,
    asking: Asking,
    read: Callable[[Item, str], Written],
) -> list[Written]:
    """[items] what an LM wrote about every item that has a source, all in one batch.

    Args:
        name: of the synopsis, for the keys of the calls.
        asking: field source.
        read: makes the synopsis of an item from a reply's text.
    """
    requests = {
        i: asking.request(name, item.id, source=item.source)
        for i, item in enumerate(panel.items)
        if item.source.strip()
    }
    replies, reasons = written(lm, requests)
    found = {i: read(panel.items[i], reply) for i, reply in replies.items()}
    found |= {i: Written(None, reason) for i, reason in reasons.items()}
    return [found.get(i, NO_SOURCE) for i in range(len(panel.items))]


def with_synopses(
    panel: Panel,
    synopses: Sequence[Written],
    step: DataclassInstance,
    name: str,
    *,
    by: By,
    lm: EvaluationLM,
) -> Panel:
    """The panel with these synopses; its provenance counts, by reason, those not written."""
    items = tuple(
        replace(item, synopsis=one.text) for item, one in zip(panel.items, synopses, strict=True)
    )
    missing = [str(one.reason) for one in synopses if one.text is None]
    facts = account("synopsis", step, name, by=by, lm=lm, unwritten=missing)
    return replace(panel, items=items, provenance={**panel.provenance, **facts})
