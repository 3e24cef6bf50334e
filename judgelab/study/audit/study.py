"""Can I trust this judge on my data, why, and what do I need?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judgelab.core.bounds import Count
from judgelab.core.errors import CapabilityError, ConfigError, DataError, did_you_mean
from judgelab.core.judgments import JudgmentTable
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Mechanism
from judgelab.study.audit.asking import gather
from judgelab.study.audit.conclusion import concluded
from judgelab.study.audit.controls import with_controls
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.judge_table import SECTION, judge_table
from judgelab.study.audit.judges import asked_in
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.unseen import with_chances
from judgelab.study.common.judges import NamedJudge, asks_of, named
from judgelab.study.common.panels import text_records, write_replies, write_sources
from judgelab.study.common.stopping import Stop

NOBODY = (
    "There is no judge to audit: the data hold no verdicts or scores, and nobody is asked. Name "
    "judges (study.judges=judges.yaml), or a mechanism (mechanism=pairwise "
    "evaluation_lm=gpt4o_mini)."
)


@dataclass(frozen=True)
class Audit(Study):
    """One verdict for each judge, and the evidence for it.

    Judges are those of the data; and those of ``judges``, or without any the run's mechanism with
    its evaluation LM. With mechanism=recorded_scores nobody is asked, and metrics of the data are
    judges. Length and random stand beside them all.

    Args:
        questions: name -> part of the audit; null: left out.
        order: names of parts in the order to be read; others come last.
        judges: name -> evaluation_lm, mechanism, preprocessor and family, each as far as it is not
            the run's; or an LM alone. A file, or a list, of option names becomes that
            (``judgelab.config.judges``).
        parts: names of those that are answered; null: all.
        rules: what counts as trust.
        sampled: whether the labelled units were drawn at random; null: not known, unless all are
            labelled or the data give the probabilities.
        bootstrap: resamples.
        prices: price list of models behind an endpoint; null: conf/prices.yaml.
        stop: when judges are asked about enough labelled items; by default about everything.
    """

    questions: Mapping[str, Any]
    rules: TrustRules
    order: Sequence[str]
    judges: Any = None
    parts: Sequence[str] | None = None
    sampled: bool | None = None
    bootstrap: Count = 2000
    prices: str | None = None
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", named(self.judges))
        read = [name for name in self.order if name in self.questions]
        names = dict.fromkeys([*read, *self.questions])
        object.__setattr__(self, "questions", {name: self.questions[name] for name in names})
        for name in self.parts or ():
            if name not in self.questions:
                hint = did_you_mean(name, self.questions)
                raise ConfigError(f"study.parts: no part is called {name!r}.{hint}")

    @property
    def _answered(self) -> dict[str, AuditPart]:
        return {
            name: part
            for name, part in self.questions.items()
            if part is not None and (self.parts is None or name in self.parts)
        }

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Audit:
        """See Study."""
        judges: dict[str, NamedJudge] = self.judges
        made = {
            name: part and part.with_lms(lambda at, lm, name=name: use(f"{name}.{at}", lm))
            for name, part in self.questions.items()
        }
        asked = {name: one.with_lm(partial(use, f"judges.{name}")) for name, one in judges.items()}
        return replace(self, questions=made, judges=asked)

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """See Study."""
        return asks_of(self.judges, mechanism, lm) or {"evaluation_lm": (mechanism, lm)}

    def ask(self, context: Context) -> None:
        """See Study."""
        case = replace(self, stop=Stop())._case(context).case  # the most that it can ask
        for name, part in self._answered.items():
            try:
                part.ask(case.within(name))
            except (DataError, CapabilityError):
                continue  # run says what it lacks

    def run(self, context: Context) -> Result:
        """Every part's answer, and one verdict for each judge."""
        opened = self._case(context)
        case = opened.case
        context.run_dir.write_table("records/judgments.parquet", case.table.long())
        if any(text is not None for row in case.panel.texts for text in row):
            context.run_dir.write_table("records/clean_texts.parquet", text_records(case.panel))
            write_sources(context, case.panel)
        write_replies(context, case.panel, case.heard)
        found = {}
        for name, part in self._answered.items():
            context.tell(part.question, 0)
            found[name] = _found(part, case)
        left = [name for name in self.questions if name not in found]
        result = concluded(case, self._answered, found, left)
        return replace(
            result,
            notes=[*opened.notes, *result.notes, *_without_reference(case)],
            tables=[*result.tables, judge_table(case, self.prices, self.judges)],
            sections=[*result.sections, SECTION],
        )

    def _case(self, context: Context) -> _Opened:
        context.no_attack("audit")
        panel = context.panels(raw=True)["clean"]
        judges: dict[str, NamedJudge] = self.judges
        families = {name: one.family for name, one in judges.items()}
        judged = gather(
            context,
            panel,
            asked_in(context, judges),
            families,
            self.stop,
            1 - self.rules.alpha,
        )
        if not judged.table.judges:
            raise ConfigError(NOBODY + _unread(panel))
        sampled = _sampled(judged.table) if self.sampled is None else self.sampled
        case = AuditCase(
            with_controls(with_chances(judged.table, sampled), context.seed),
            panel,
            context,
            {name: one.context for name, one in judged.asked.items()},
            sampled,
            self.rules,
            context.seed,
            self.bootstrap,
            {name: one.estimator for name, one in judged.asked.items()},
            {name: one.usage for name, one in judged.asked.items()},
            {name: one.heard for name, one in judged.asked.items()},
            self.stop,
        )
        return _Opened(case, judged.notes)


@dataclass(frozen=True)
class _Opened:
    """A case, and what is to be said of how it was asked for."""

    case: AuditCase
    notes: Sequence[str]


def _without_reference(case: AuditCase) -> list[str]:
    """What judges that take references do without any, where they do."""
    if any(item.reference is not None for item in case.panel.items):
        return []
    told = [(name, one.mechanism) for name, one in case.asked.items()]
    names = [name for name, one in told if one.measurement == "text" and one.subject == "pair"]
    if not names:
        return []
    return [
        f"{', '.join(names)}: no item has a reference, so each text is held against the other "
        "systems' texts, which tells how alike they are. Add references (reference)."
    ]


def _unread(panel: Panel) -> str:
    """A hint at columns of a table that may be judges'."""
    names = panel.provenance.get("columns_not_read")
    if not isinstance(names, Sequence) or not names:
        return ""
    shown = [str(name) for name in names[:20]]
    return (
        f" Columns that were not read: {', '.join(shown)} "
        f"(dataset.judges=[{','.join(shown[-2:])}] would make these judges)."
    )


def _found(part: AuditPart, case: AuditCase) -> Findings:
    """A part's answer; where the data or a judge cannot give one, what it would need."""
    try:
        return part.run(case)
    except (DataError, CapabilityError) as cause:
        return Findings(lacking=str(cause))


def _sampled(table: JudgmentTable) -> bool | None:
    """Whether the labels are a random sample: all are labelled, or the probabilities are known."""
    labelled = table.labelled
    if labelled.all():
        return True
    chance = table.units.chance[labelled]
    # Chances of 1 alone do not say how it came that other items have no label.
    return True if labelled.any() and (chance > 0).all() and (chance < 1).any() else None
