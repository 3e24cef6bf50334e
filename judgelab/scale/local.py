"""Interface of the scale axis, and the ordinary case: one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from judgelab.calls.cached import CachedLM
from judgelab.core.lm import EvaluationLM

Ask = Callable[[EvaluationLM], object]
"""A step of a run that asks an LM. Given the same answers, it asks the same questions again."""

Spread = Callable[[Ask], None]
"""Has others answer what a step would ask, so that the step itself finds every answer known."""


class Scale(Protocol):
    """Spreads questions; it cannot change an answer, a score or a byte of a result."""

    def over(self, node: Mapping[str, Any], lm: CachedLM) -> Spread:
        """How the steps of a run are spread; ConfigError where this LM cannot be.

        Others build their own LM from ``node``, its config; answers end up in the cache of ``lm``.
        """
        ...

    def close(self) -> None:
        """Give back processes and connections."""


def alone(ask: Ask) -> None:
    """Nothing is spread."""


class Local:
    """This process asks its LM itself. (An LM may still use processes or threads of its own.)"""

    def over(self, node: Mapping[str, Any], lm: CachedLM) -> Spread:
        """Nothing is spread."""
        return alone

    def close(self) -> None:
        """Nothing to give back."""
