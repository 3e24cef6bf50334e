"""No tracker."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.tracker.protocol import FinishedRun


@dataclass(frozen=True)
class NoTracker:
    """Runs are kept on disk alone."""

    def publish(self, run: FinishedRun) -> str | None:
        """Nothing to do."""
        return None
