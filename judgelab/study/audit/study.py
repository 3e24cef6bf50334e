"""Can I trust this judge on my data, why, and what do I need?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.study.audit.evidence import Findings, joined
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import TrustRules


@dataclass(frozen=True)
class Audit(Study):
    """One verdict for each judge, and the evidence for it.

    Args:
        questions: name -> part of the audit, in the order to be read; null: left out.
        parts: names of those that are answered; null: all.
        rules: what counts as trust.
        sampled: whether the labelled units were drawn at random; null: not known, unless all are
            labelled or the data give the probabilities.
        bootstrap: resamples.
    """

    questions: Mapping[str, Any]
    rules: TrustRules
    parts: Sequence[str] | None = None
    sampled: bool | None = None
    bootstrap: Count = 2000

    def __post_init__(self) -> None:
        for name in self.parts or ():
            if name not in self.questions:
                hint = did_you_mean(name, self.questions)
                raise ConfigError(f"study.parts: no part is called {name!r}.{hint}")

    @property
    def _asked(self) -> dict[str, AuditPart]:
        return {
            name: part
            for name, part in self.questions.items()
            if part is not None and (self.parts is None or name in self.parts)
        }

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Audit:
        """See Study."""
        made = {
            name: part and part.with_lms(lambda at, lm, name=name: use(f"{name}.{at}", lm))
            for name, part in self.questions.items()
        }
        return replace(self, questions=made)

    def ask(self, context: Context) -> None:
        """See Study."""
        case = self._case(context)
        for part in self._asked.values():
            part.ask(case)

    def run(self, context: Context) -> Result:
        """Every part's answer, and one verdict for each judge."""
        case = self._case(context)
        context.run_dir.write_table("records/judgments.parquet", case.table.long())
        found = {name: part.run(case) for name, part in self._asked.items()}
        return self._result(case, found)

    def _case(self, context: Context) -> AuditCase:
        context.no_attack("audit")
        panel = context.panels()["clean"]
        if panel.judgments is None:
            raise DataError("study=audit needs judgments and labels: use dataset=llmbar.")
        return AuditCase(
            panel.judgments,
            panel,
            context,
            {},
            self.sampled,
            self.rules,
            context.seed,
            self.bootstrap,
        )

    def _result(self, case: AuditCase, found: Mapping[str, Findings]) -> Result:
        judges = [one.name for one in case.table.judges if not one.control]
        joined(list(found.values()), judges)
        return Result(
            summary={"study": "audit"}
            | {k: v for one in found.values() for k, v in one.summary.items()},
            primary="trusted",
            tables=[table for one in found.values() for table in one.tables],
            figures=[name for one in found.values() for name in one.figures],
            notes=[said for one in found.values() for said in one.notes],
        )
