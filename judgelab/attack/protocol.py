"""The seam of the attack axis."""

from __future__ import annotations

import hashlib
from typing import Literal, Protocol, runtime_checkable

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Agent, Item, Panel

Tag = Literal["constant", "agent", "source"]
"""What a marker is derived from. ``source`` is the released definition: every text of an item
carries the same marker and texts of other items carry another, which tells a critic whether two
texts share a source. ``agent`` marks the writer and ``constant`` is the same everywhere: neither
says anything about the source."""


Expectation = Literal["fall", "no_rise"]
"""What an honest metric does: ``fall`` where information was taken away (a degradation),
``no_rise`` where none was added (a manipulation). GEM paper, sections 4.2 and 4.3."""

NO_LM: frozenset[Capability] = frozenset()
"""``requires`` of a step that asks no LM."""


@runtime_checkable
class Attack(Protocol):
    """A change of every text of a panel, the human reference included (as released).

    Attributes:
        name: as on the command line.
        expects: what an honest metric should do.
        requires: what the LM that writes must be able to do.
    """

    @property
    def name(self) -> str: ...

    @property
    def expects(self) -> Expectation: ...

    @property
    def requires(self) -> frozenset[Capability]: ...

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The attacked panel; items, agents and absent texts stay as they are.

        Args:
            lm: whoever writes; rule-based attacks do not ask it.
        """
        ...


def marker(tag: Tag, item: Item, agent: Agent, length: int) -> str:
    """The first ``length`` hex digits of the md5 of what ``tag`` names."""
    text = {"source": item.source, "agent": agent.name, "constant": ""}[tag]
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:length]
