"""Studies that ask several LMs the same questions: their judges, and how they are put to work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Self

from judgelab.core.lm import EvaluationLM


class Panelled(ABC):
    """A study with judges of its own beside the evaluation LM."""

    judges: dict[str, EvaluationLM]

    @abstractmethod
    def employed(self, employ: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with every judge put to work: cached, metered, held against the budget."""


def asked_by(study: object, evaluation_lm: EvaluationLM) -> Mapping[str, EvaluationLM]:
    """Whom the mechanism asks: a study's judges by their config path, else the evaluation LM."""
    if isinstance(study, Panelled) and study.judges:
        return {f"study.judges.{name}": lm for name, lm in study.judges.items()}
    return {"evaluation_lm": evaluation_lm}
