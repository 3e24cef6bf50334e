"""Constant padding (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.panel import Panel


@dataclass(frozen=True)
class Padding:
    """Appends a space and ``count`` times ``symbol``: systematic noise, 10 X as released."""

    symbol: str = "X"
    count: int = 10
    name: ClassVar[str] = "padding"

    def apply(self, panel: Panel, *, seed: int) -> Panel:
        """Pad every text."""
        return panel.map(
            lambda text, item, agent, rng: f"{text} {self.symbol * self.count}",
            seed=seed,
            salt=self.name,
            attack=self.name,
        )
