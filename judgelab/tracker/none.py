"""No tracker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgelab.tracker.protocol import FinishedRun, Mirror, StartedRun


@dataclass(frozen=True)
class NoTracker:
    """Runs are kept on disk alone."""

    def follow(self, run: StartedRun) -> Mirror:
        """Nothing to follow."""
        return _Nowhere()


class _Nowhere:
    """Nothing to do."""

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """See Mirror."""

    def publish(self, run: FinishedRun) -> str | None:
        """See Mirror."""
        return None

    def close(self) -> None:
        """See Mirror."""
