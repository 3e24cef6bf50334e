"""No manipulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.panel import Panel


@dataclass(frozen=True)
class NoAttack:
    """Leaves the panel as it is; a run then has no attacked half."""

    name: ClassVar[str] = "none"

    def apply(self, panel: Panel, *, seed: int) -> Panel:
        """The same panel."""
        return panel
