"""The interface of the attack axis, and what its rules share."""

from __future__ import annotations

import hashlib
from typing import ClassVar, Literal, Protocol, runtime_checkable

from judgelab.core.panel import Agent, Item
from judgelab.core.step import RuleStep, Step, TextWritingStep

Tag = Literal["constant", "agent", "source"]
"""What a marker is derived from. ``source`` is the released definition: every text of an item
carries the same marker and texts of other items carry another, which tells a critic whether two
texts share a source. ``agent`` marks the writer and ``constant`` is the same everywhere: neither
says anything about the source."""


Expectation = Literal["fall", "no_rise"]
"""What an honest metric does: ``fall`` where information was taken away (a degradation),
``no_rise`` where none was added (a manipulation). GEM paper, sections 4.2 and 4.3."""


@runtime_checkable
class Attack(Step, Protocol):
    """A change of every text of a panel, the human reference included (as released).

    Items, agents and absent texts stay as they are.

    Attributes:
        expects: what an honest metric should do.
    """

    @property
    def expects(self) -> Expectation: ...


class RuleAttack(RuleStep):
    """An attack that follows a rule."""

    axis: ClassVar[str] = "attack"
    expects: ClassVar[Expectation]


class WritingAttack(TextWritingStep):
    """An attack whose texts an LM or a rule writes."""

    axis: ClassVar[str] = "attack"
    expects: ClassVar[Expectation]


def marker(tag: Tag, item: Item, agent: Agent, length: int) -> str:
    """The first ``length`` hex digits of the md5 of what ``tag`` names."""
    text = {"source": item.source, "agent": agent.name, "constant": ""}[tag]
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:length]
