"""How far a training is: on the run's live line, or a plain line now and then; on stderr.

Points of its curve go on to whoever draws it while the training lasts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Protocol, TextIO

EVERY = 60.0  # seconds between plain lines; a short training stays silent
Row = Mapping[str, float]


class TrainingProgress(Protocol):
    """Who is told how far a training is."""

    def begin(self, step: int, steps: int) -> None:
        """Training begins at ``step`` of ``steps``."""
        ...

    def at(self, step: int, loss: float) -> None:
        """So many steps are done; ``loss`` in nats per token."""
        ...

    def point(self, row: Row) -> None:
        """A point of the curve: step, epoch, and what is known there."""
        ...


def _undrawn(row: Row) -> None:
    """Nobody draws the curve."""


class TrainingWatch:
    """Steps done, loss, time left.

    Args:
        tell: shows a stage on the run's live line; does nothing elsewhere.
        stream: where plain lines go if it is no terminal.
        draw: is given the points of the curve.
    """

    def __init__(
        self,
        tell: Callable[[str, int], None],
        stream: TextIO | None = None,
        draw: Callable[[Row], None] = _undrawn,
    ) -> None:
        self._tell, self._stream, self._draw = tell, stream or sys.stderr, draw
        self._first = self._steps = 0
        self._began = self._said = time.monotonic()

    def begin(self, step: int, steps: int) -> None:
        """Training begins at ``step`` of ``steps``."""
        self._first, self._steps = step, steps
        self._began = self._said = time.monotonic()

    def at(self, step: int, loss: float) -> None:
        """So many steps are done; ``loss`` in nats per token."""
        now = time.monotonic()
        line = f"fine-tuning: step {step} of {self._steps}, loss {loss:.3f}"
        done = step - self._first
        if done > 0:
            left = (now - self._began) / done * (self._steps - step)
            line += f", {_span(left)} left"
        self._tell(line, 0)
        if not self._stream.isatty() and now - self._said >= EVERY:
            self._said = now
            print(line, file=self._stream, flush=True)

    def point(self, row: Row) -> None:
        """A point of the curve."""
        self._draw(row)


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
