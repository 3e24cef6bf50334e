"""No tracker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgelab.core.result import Result
from judgelab.tracker.protocol import Mirror, TrackedRun


@dataclass(frozen=True)
class NoTracker:
    """Runs are kept on disk alone."""

    def follow(self, run: TrackedRun) -> Mirror:
        """Nothing to follow."""
        return _Nowhere()


class _Nowhere:
    """Nothing to do."""

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """See Mirror."""

    def publish(self, result: Result) -> str | None:
        """See Mirror."""
        return None

    def close(self) -> None:
        """See Mirror."""
