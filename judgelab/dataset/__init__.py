"""The dataset axis: where items, and perhaps responses, come from."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.panel import Panel

__all__ = ["Dataset"]


class Dataset(Protocol):
    """The interface of the axis."""

    def load(self, limit: int | None = None) -> Panel:
        """The first ``limit`` items (all for None); agents are empty without responses.

        Raises:
            ConfigError: a setting names what the data do not have.
            DataError: the data cannot be had, or are not as described.
        """
        ...
