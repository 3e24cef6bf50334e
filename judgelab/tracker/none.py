"""No tracker."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep


@dataclass(frozen=True)
class NoTracker:
    """Runs are kept on disk alone."""

    def follow(self, run: TrackedRun) -> Mirror:
        """Nothing to follow."""
        return Mirror()

    def compare(self, sweep: TrackedSweep) -> str | None:
        """Nothing to show."""
        return None
