"""The log-probabilities one item asks for, each once, in one batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgelab.core.lm import EvaluationLM


@dataclass
class Questions:
    """Contexts and targets, each once, and the pairs of them to be scored."""

    _contexts: dict[str, int] = field(default_factory=dict)
    _targets: dict[str, int] = field(default_factory=dict)
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict)

    def ask(self, context: str, target: str) -> int:
        """Note a question; returns the place of its answer in what ``put`` gives."""
        c = self._contexts.setdefault(context, len(self._contexts))
        t = self._targets.setdefault(target, len(self._targets))
        return self._pairs.setdefault((c, t), len(self._pairs))

    def put(self, lm: EvaluationLM) -> list[tuple[float, float]]:
        """Ask all of them: (nats summed over the target, its tokens), in order."""
        if not self._pairs:
            return []
        table = lm.logprob(list(self._contexts), list(self._targets), list(self._pairs))
        return list(zip(table.total.tolist(), table.tokens.tolist(), strict=True))
