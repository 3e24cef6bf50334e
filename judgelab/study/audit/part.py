"""The interface for the parts of an audit: each answers one question about every judge."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol, Self

from judgelab.core.estimator import Estimator
from judgelab.core.judgments import JudgmentTable
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.engine.listening import Listening
from judgelab.engine.usage import UsageCount
from judgelab.study.audit.credits import Credits, credits_of
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.rules import TrustRules
from judgelab.study.common.stopping import Stop


@dataclass(frozen=True)
class AuditCase:
    """All that the parts of an audit look at.

    Attributes:
        table: what people, judges and controls said.
        panel: the texts, as far as there are any.
        context: of the run.
        asked: judge -> the context in which it can be asked more; empty for recorded judgments.
        sampled: whether the labelled units are a random sample; None: not known.
        rules: what counts as trust.
        seed: of all resampling.
        draws: resamples.
        estimators: judge -> what its judgments are estimates by; of those that are asked.
        usage: judge -> calls and tokens that its judgments took; of the same.
        heard: judge -> what it replied; of the same.
        stop: whether judges were asked until it was clear; intervals are to hold at every look.
    """

    table: JudgmentTable
    panel: Panel
    context: Context
    asked: Mapping[str, Context]
    sampled: bool | None
    rules: TrustRules
    seed: int
    draws: int
    estimators: Mapping[str, Estimator] = field(default_factory=dict)
    usage: Mapping[str, UsageCount] = field(default_factory=dict)
    heard: Mapping[str, Listening] = field(default_factory=dict)
    stop: Stop = field(default_factory=Stop)

    def within(self, part: str) -> AuditCase:
        """The case for a part in a dry run: what it asks is counted under its name."""
        tell = self.context.tell
        asked = {
            name: replace(one, tell=lambda stage, calls: tell(f"{part}: {stage}", calls))
            for name, one in self.asked.items()
        }
        return replace(self, asked=asked)

    @cached_property
    def credits(self) -> Credits:
        """What judges and controls earn on every item; computed once."""
        return credits_of(self.table)


class AuditPart(Protocol):
    """One question of an audit. Derive from it: most parts ask no LM.

    Attributes:
        name: as in ``study.parts``.
        question: in plain words; the heading of its section.
    """

    name: ClassVar[str]
    question: ClassVar[str]

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with LMs of its own as ``use`` returns them; see ``Study.with_lms``."""
        return self

    def ask(self, case: AuditCase) -> None:
        """Put every question to the judges that ``run`` would put, and nothing more."""
        return None

    @abstractmethod
    def run(self, case: AuditCase) -> Findings:
        """The answer, or what it would need."""
        ...
