"""An LM that is not here: what it answered in a packed run lies in the call cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from judgelab.core.errors import DataError
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, LogProbTable, Pairs, Reply


@dataclass(frozen=True)
class Replayed(EvaluationLM):
    """Speaks for the LM of a packed run; whoever asks it what the pack does not hold is refused.

    Raises:
        DataError: a call is asked that the packed run did not make.
    """

    name: str  # the LM's identity, which is part of every key
    able: list[str]  # its capabilities
    shown: Mapping[str, str] = field(default_factory=dict)  # its presentation
    identity = property(lambda self: self.name)
    capabilities = property(lambda self: frozenset(map(Capability, self.able)))
    presentation = property(lambda self: Presentation(**self.shown))

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """See EvaluationLM; nothing is computed."""
        self._refuse()

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """See EvaluationLM; nothing is asked."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DataError(
            f"The pack holds no answer of {self.name.split(' ')[0]} to a call that this run makes: "
            "it was packed by another version of judgelab, or its data differ."
        )


def stand_in(lm: EvaluationLM) -> dict[str, Any]:
    """The node of a config that speaks for an LM."""
    return {
        "_target_": f"{Replayed.__module__}.{Replayed.__qualname__}",
        "name": lm.identity,
        "able": sorted(lm.capabilities),
        "shown": vars(lm.presentation),
    }
