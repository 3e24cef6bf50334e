"""No manipulation."""

from __future__ import annotations

from typing import ClassVar

from judgelab.attack.protocol import Expectation
from judgelab.core.step import Unchanged


class NoAttack(Unchanged):
    """Leaves the panel as it is; a run then has no attacked half."""

    axis: ClassVar[str] = "attack"
    name: ClassVar[str] = "none"
    expects: ClassVar[Expectation] = "no_rise"
