"""A mirror whose faults are told, and are not the run's."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from judgelab.tracker.protocol import FinishedRun, Mirror, StartedRun, Tracker


class Careful:
    """A tracker's mirror of one run; whatever it raises becomes a warning on stderr.

    Args:
        tracker: whose mirror.
        run: what it follows.
    """

    def __init__(self, tracker: Tracker, run: StartedRun) -> None:
        self._mirror: Mirror = tracker.follow(run)
        self._broken = False

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """See Mirror; after a fault, no more points are sent."""
        if self._broken:
            return
        try:
            self._mirror.point(curve, row)
        except Exception as cause:
            self._broken = True
            _warn("the tracker failed, curves are kept on disk alone", cause)

    def publish(self, run: FinishedRun) -> str | None:
        """See Mirror; "failed: ..." after a fault."""
        try:
            place = self._mirror.publish(run)
        except Exception as cause:
            _warn("the tracker failed, the run is kept on disk", cause)
            return f"failed: {type(cause).__name__}"
        if place is not None:
            print(f"tracker: {place}")
        return place

    def close(self) -> None:
        """See Mirror."""
        try:
            self._mirror.close()
        except Exception as cause:
            _warn("the tracker failed to close", cause)


def _warn(what: str, cause: Exception) -> None:
    print(f"warning: {what}: {' '.join(str(cause).split())}", file=sys.stderr)
