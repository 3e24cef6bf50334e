"""The seam of the tracker axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from judgelab.core.result import Result


@dataclass(frozen=True)
class StartedRun:
    """What a tracker may know of a run before it has a result.

    Attributes:
        name: of the run directory.
        folder: the run directory.
        config: the resolved config.
        sweep: name of the multirun it belongs to, or None.
    """

    name: str
    folder: Path
    config: Mapping[str, Any]
    sweep: str | None


@dataclass(frozen=True)
class FinishedRun:
    """All a tracker may see: what is on disk already, and free of secrets.

    Attributes:
        name: of the run directory.
        folder: the run directory, complete but for DONE.
        config: the resolved config.
        result: what the study found.
        sweep: name of the multirun it belongs to, or None.
    """

    name: str
    folder: Path
    config: Mapping[str, Any]
    result: Result
    sweep: str | None

    @property
    def started(self) -> StartedRun:
        """What was known of it before."""
        return StartedRun(self.name, self.folder, self.config, self.sweep)


class Mirror(Protocol):
    """One run as a tracker shows it. Each method may raise: the run goes on."""

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """A point of a curve, while the run goes on.

        Args:
            curve: the name of the result's table that will hold it.
            row: ``step``, and what is known there.
        """
        ...

    def publish(self, run: FinishedRun) -> str | None:
        """Mirror the finished run; returns where to look, or None."""
        ...

    def close(self) -> None:
        """The run ends without a result; what was mirrored stays."""
        ...


class Tracker(Protocol):
    """A mirror of runs; the run directory stays the truth."""

    def follow(self, run: StartedRun) -> Mirror:
        """Begin to mirror a run; nothing is opened before there is something to show."""
        ...
