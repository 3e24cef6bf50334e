"""The seam of the tracker axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from judgelab.result import Result


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


class Tracker(Protocol):
    """A mirror of finished runs; the run directory stays the truth."""

    def publish(self, run: FinishedRun) -> str | None:
        """Mirror the run; returns where to look, or None. May raise: the run goes on."""
        ...
