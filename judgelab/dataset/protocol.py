"""The seam of the dataset axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.panel import Panel


class Dataset(Protocol):
    """Where items, and perhaps responses, come from."""

    def load(self, limit: int | None = None) -> Panel:
        """The first ``limit`` items (all for None); agents are empty without responses."""
        ...
