"""The interface for studies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import Result
from judgelab.mechanism.protocol import Mechanism

if TYPE_CHECKING:
    from judgelab.engine.context import Context
    from judgelab.report.jobs import Comparison, SweepJob


class Study(Protocol):
    """A question about a mechanism, answered in tables and figures. Derive from it.

    Attributes:
        judges: LMs that the study asks beside the evaluation LM, by name; None or empty: none.
        named_by: axes whose options a run's folder is called by, after the study.
        drawings: name -> drawing, of the figures that its results and comparisons name.
    """

    judges: dict[str, EvaluationLM] | None = None
    named_by: ClassVar[Sequence[str]] = ("mechanism", "dataset", "attack")
    drawings: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """What several of its runs say beside each other, beyond ``Result.headlines``."""
        return ()

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with each of its LMs as ``use`` returns it (cached, metered, counted), which is
        given the LM's place in the study, ``judges.NAME`` (ConfigError: it has judges and does not
        say how, so they would be asked past cache and budget)."""
        if self.judges:
            raise ConfigError(
                f"{type(self).__name__} has judges, but no with_lms: write it, or they are asked "
                "past cache and budget."
            )
        return self

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """Place in the config -> who is asked there, and by which mechanism: the judges, by the
        run's mechanism; without judges the run's evaluation LM."""
        judges = {f"study.judges.{name}": one for name, one in (self.judges or {}).items()}
        return {key: (mechanism, one) for key, one in (judges or {"evaluation_lm": lm}).items()}

    @classmethod
    def gate(cls, result: Mapping[str, Any]) -> int:
        """Exit code for a pipeline, by the result.json of one of its runs: 0 use, 4 do not use, 5
        not known yet (ConfigError: its answer is none of these)."""
        raise ConfigError(f"{cls.__name__} gives no verdict that a pipeline could stop at.")

    @abstractmethod
    def ask(self, context: Context) -> None:
        """Put every question to the LMs that ``run`` would put, and nothing more: a dry run counts
        them, and does not know what they would be answered."""
        ...

    def forecast(self, context: Context) -> Sequence[str]:
        """Sentences for a dry run on what ``run`` does beside asking LMs; nobody is asked."""
        return ()

    @abstractmethod
    def run(self, context: Context) -> Result:
        """Everything that ends up in result.json; all model traffic goes through its LMs."""
        ...
