"""The dataset axis: where items, and perhaps responses, come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel

__all__ = ["Dataset", "LimitedDataset"]


class Dataset(Protocol):
    """The interface of the axis."""

    def load(self, limit: int | None = None) -> Panel:
        """The first ``limit`` items (all for None); agents are empty without responses."""
        ...


@dataclass(frozen=True, kw_only=True)
class LimitedDataset(ABC):
    """What the datasets here have in common.

    Args:
        limit: the first so many items (null for all); ``load`` may override it.

    Raises:
        ConfigError: a limit below 1, or a setting that the dataset does not know.
    """

    limit: int | None = None

    def __post_init__(self) -> None:
        _at_least_one(self.limit)

    def load(self, limit: int | None = None) -> Panel:
        """The panel; its provenance says where it is from.

        Raises:
            ConfigError: the limit is below 1, or a setting names what the data do not have.
            DataError: the data cannot be had, or are not as described.
        """
        return self._panel(self.limit if limit is None else _at_least_one(limit))

    @abstractmethod
    def _panel(self, limit: int | None) -> Panel:
        """The first ``limit`` items."""


def _at_least_one(limit: int | None) -> int | None:
    """The limit itself, unless it is below 1."""
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise ConfigError(f"limit={limit!r} must be a whole number of items, at least 1.")
    return limit
