"""What does the judge not see? The study of discernment, held for every judge that can be asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judgelab.core.bounds import Count
from judgelab.core.capability import Capability
from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import Result, Row, Table
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Mechanism
from judgelab.store.run_dir import RunDir
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart

NOBODY = (
    "What a judge does not see needs judges that can be asked now (study.judges, or mechanism and "
    "evaluation_lm): recorded verdicts are not of degraded texts."
)
NO_REFERENCE = (
    "What a judge does not see needs a reference for some items, a text known to be good that is "
    "degraded step by step: give one (reference), or choose a dataset that has them."
)
PLACE = "study.questions.discernment.study"
FEWEST = 5
"""References below which not even a fall of all is found (a p of at least .06)."""

ENDS = ("value", "low", "high", "n", "unscored", "threshold")


@dataclass(frozen=True)
class Unseen(AuditPart):
    """References are degraded, rated before and after, and tested (DHP paper).

    A judge that compares texts cannot rate one alone: its LM is asked to, by ``rating`` where it
    chats, else by ``likelihood``.

    Args:
        study: study=discernment, or one that makes its tables ``discernment`` and ``averages``.
        rating: how an LM that chats rates a text.
        likelihood: how one that gives log-probabilities does.
        items: references that are degraded, the first ones; null: all.
    """

    study: Any
    rating: Any
    likelihood: Any
    items: Count | None = 50
    name: ClassVar[str] = "discernment"
    question: ClassVar[str] = "What does the judge not see?"

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Unseen:
        """See AuditPart."""
        return replace(self, study=self.study.with_lms(use))

    def ask(self, case: AuditCase) -> None:
        """Every question of the study, to every judge; one that does not fit is asked nothing."""
        for _ in self._each(case, self.study.ask):
            pass

    def run(self, case: AuditCase) -> Findings:
        """Scores, and what each judge does not see."""
        if not case.asked:
            return Findings(lacking=NOBODY)
        if not any((item.reference or "").strip() for item in case.panel.items):
            return Findings(lacking=NO_REFERENCE)
        found, refused = dict[str, tuple[str, Result]](), dict[str, str]()
        for judge, by, said in self._each(case, self.study.run):
            if isinstance(said, str):
                refused[judge] = said
            else:
                found[judge] = by, said
        if not found:
            return Findings(lacking="; ".join(dict.fromkeys(refused.values())))
        averages = {judge: _rows(result, "averages") for judge, (_, result) in found.items()}
        whole = {judge: _average(rows) for judge, rows in averages.items()}
        seen = {judge: _rows(result, "discernment") for judge, (_, result) in found.items()}
        return Findings(
            tables=[_scores(found, whole, seen), _perturbations(seen)],
            notes=[*_sentences(found, seen), *(f"{who}: {why}" for who, why in refused.items())],
            summary={f"discernment/{judge}": row["value"] for judge, row in whole.items()},
        )

    def _each(
        self, case: AuditCase, put: Callable[[Context], Result | None]
    ) -> Iterator[tuple[str, str, Any]]:
        """(judge, name of what it is asked by, what came of it or why nothing did)."""
        for judge, context in case.asked.items():
            mechanism = self._rated_by(context)
            if mechanism is None:
                yield judge, "", "its LM can neither chat nor give log-probabilities."
                continue
            folder = context.run_dir.path / "discernment" / _slug(judge)
            limits = [one for one in (self.items, context.limit) if one is not None]
            own = replace(
                context,
                mechanism=mechanism,
                run_dir=RunDir(folder),
                limit=min(limits, default=None),
            )
            try:
                yield judge, mechanism.name, put(own)
            except (ConfigError, DataError, CapabilityError) as cause:
                yield judge, mechanism.name, re.sub(r"\bstudy\.", f"{PLACE}.", str(cause))

    def _rated_by(self, context: Context) -> Mechanism | None:
        """The judge's own mechanism where it scores texts one by one, else one by which it can."""
        if context.mechanism.subject == "text":
            return context.mechanism
        able = context.evaluation_lm.capabilities
        if Capability.CHAT in able:
            made: Mechanism = self.rating
            return made
        return self.likelihood if Capability.LOGPROB in able else None


def _slug(judge: str) -> str:
    """A folder's name."""
    return re.sub(r"[^\w.+-]+", "_", judge)


def _rows(result: Result, table: str) -> Sequence[Row]:
    return next(one.rows for one in result.tables if one.name == table)


def _average(rows: Sequence[Row]) -> Row:
    return next(row for row in rows if row["statistic"] == "average_ew")


def _scores(
    found: Mapping[str, tuple[str, Result]],
    whole: Mapping[str, Row],
    seen: Mapping[str, Sequence[Row]],
) -> Table:
    rows: list[Row] = [
        {
            "judge": judge,
            "asked_by": by,
            **{key: whole[judge][key] for key in ENDS},
            "perturbations": len(_tested(seen[judge])),
            "not_seen": ", ".join(_named(seen[judge], "no")) or "none",
        }
        for judge, (by, _) in found.items()
    ]
    note = (
        "value: mean of D over levels of perturbations, with a 95 % interval over items; D is "
        "log_.05 of p, so that nominally 1 is p = .05. threshold: what 5 % of judges reach that "
        "see nothing. not_seen: perturbations of which that is so one by one. asked_by: the "
        "mechanism; a judge that compares texts was asked to rate them."
    )
    return Table("discerned", "What judges see of degraded references", rows, note)


def _perturbations(seen: Mapping[str, Sequence[Row]]) -> Table:
    kept = ("perturbation", "level", "severity", "value", "low", "high", "n", "threshold", "seen")
    rows: list[Row] = [
        {"judge": judge, **{key: row[key] for key in kept}}
        for judge, own in seen.items()
        for row in own
    ]
    return Table("discerned_perturbations", "Every perturbation, by judge", rows)


def _tested(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["seen"] in ("yes", "no")]


def _named(rows: Sequence[Row], answer: str) -> list[str]:
    return [str(row["perturbation"]) for row in rows if row["seen"] == answer]


def _sentences(
    found: Mapping[str, tuple[str, Result]], seen: Mapping[str, Sequence[Row]]
) -> Iterator[str]:
    for judge, (by, _) in found.items():
        tested, missed = _tested(seen[judge]), _named(seen[judge], "no")
        most = max((int(str(row["n"])) for row in tested), default=0)
        if most < FEWEST:
            yield (
                f"{judge}: {most} references are too few to tell what it does not see; {FEWEST} "
                "are the least."
            )
        elif missed:
            yield (
                f"{judge} rates a text no lower after {', '.join(missed)}, as far as "
                f"{most} references show (asked by {by})."
            )
        else:
            yield f"{judge} rates texts lower after each of {len(tested)} perturbations ({by})."
