"""The seam of the attack axis."""

from __future__ import annotations

import hashlib
from typing import Literal, Protocol

from judgelab.panel import Agent, Item, Panel

Tag = Literal["constant", "agent", "source"]
"""What a marker is derived from. ``source`` is the released definition: every text of an item
carries the same marker and texts of other items carry another, which tells a critic whether two
texts share a source. ``agent`` marks the writer and ``constant`` is the same everywhere: neither
says anything about the source."""


class Attack(Protocol):
    """A manipulation of every text of a panel, the human reference included (as released)."""

    @property
    def name(self) -> str: ...

    def apply(self, panel: Panel, *, seed: int) -> Panel:
        """The attacked panel; items, agents and absent texts stay as they are."""
        ...


def marker(tag: Tag, item: Item, agent: Agent, length: int) -> str:
    """The first ``length`` hex digits of the md5 of what ``tag`` names."""
    text = {"source": item.source, "agent": agent.name, "constant": ""}[tag]
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:length]
