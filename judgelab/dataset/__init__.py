"""The dataset axis: where items, and perhaps responses, come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel

__all__ = ["Dataset", "LimitedDataset"]


class Dataset(Protocol):
    """The interface of the axis."""

    def load(self, limit: int | None = None) -> Panel:
        """The first ``limit`` items (all for None); agents are empty without responses.

        Raises:
            ConfigError: a setting names what the data do not have.
            DataError: the data cannot be had, or are not as described.
        """
        ...


class LimitedDataset(ABC):
    """A dataset that refuses a limit below 1, of which Python would make another set of items."""

    def load(self, limit: int | None = None) -> Panel:
        """As ``Dataset.load``; ConfigError also where the limit is below 1."""
        if limit is not None and (isinstance(limit, bool) or limit < 1):
            raise ConfigError(f"limit={limit!r} must be a whole number of items, at least 1.")
        return self._panel(limit)

    @abstractmethod
    def _panel(self, limit: int | None) -> Panel:
        """The first ``limit`` items."""
