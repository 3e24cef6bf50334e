"""Which judges are fit to judge, and how to pool them? (Auto-PRE paper)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.estimator import LM, mixtures
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of
from judgelab.exam.protocol import place_of
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.stats.qualification.exams import lead_over_chance, mark
from judgelab.study.common.judges import JudgesStudy, asks_nobody
from judgelab.study.common.panels import text_records
from judgelab.study.common.templates import paragraphs
from judgelab.study.qualification.case import Case, all_tables, figures, notes
from judgelab.study.qualification.figures import DRAWINGS, HEADLINES, compare
from judgelab.study.qualification.pools import (
    FOLDS,
    exam_pools,
    human_pool,
    pre_pool,
    preferences_of,
)
from judgelab.study.qualification.responses import (
    JudgeResponses,
    all_pairs,
    ask,
    read_prices,
    recorded_responses,
)

EXAMS = ("consistency", "pertinence", "self_confidence")
FIXED = {"consistency": 0.55, "pertinence": 0.5}  # thresholds: PRE's for P_c, and chance


@dataclass(frozen=True)
class Qualification(JudgesStudy):
    """Exams, pass list and pools of several judges; held against people's annotation if any.

    The judges answer by the run's mechanism, or each by one of its own, and take the exams. A judge
    that passes the exams of a pool votes in it. Where people graded answers, every judge and pool
    gets an accuracy on pairs, Spearman's rho over answers and a bias rate, with intervals and tests
    over items; elsewhere there are the exams, the pools, and how far judges agree.
    """

    judges: Any
    consistency: Any = None
    pertinence: Any = None
    self_confidence: Any = None
    recorded: Sequence[str] | None = None
    methods: Mapping[str, Sequence[str]] | None = None
    threshold: Literal["mean", "fixed"] = "mean"
    controls: Sequence[Literal["length", "random"]] = ("length", "random")
    family: Sequence[str] = ()
    prices: str = "judge_prices.yaml"
    model_prices: str | None = None
    annotation_cost: NotNegative | None = None
    bootstrap: Count = 2000
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS
    compare = staticmethod(compare)

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = {f"methods.{name}": judges for name, judges in (self.methods or {}).items()}
        if self.recorded is not None:
            groups["recorded"] = self.recorded
        for name, judges in groups.items():
            if not judges or len(set(judges)) < len(judges):
                raise ConfigError(f"study.{name}={list(judges)}: name judges, each once.")
            for judge in judges if self.judges else ():
                if judge not in self.judges:
                    hint = did_you_mean(judge, self.judges)
                    raise ConfigError(f"study.{name}: no judge is called {judge!r}.{hint}")

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """See Study."""
        # without any, _responses says what to do
        return super().asks(mechanism, lm) if self.judges else {}

    def run(self, context: Context) -> Result:
        """Ask the judges, mark the exams, pool, and compare.

        Raises:
            ConfigError: no judges, no pair of answers, an exam that does not fit the panel, an
                unknown agent in the family, or price lists in two currencies.
            DataError: a price list cannot be read.
            CapabilityError: a judge cannot do what the mechanism or an exam needs.
        """
        panel, everybody, currency = self._responses(context)
        responses = everybody if self.recorded is None else everybody.of(self.recorded)
        write = context.run_dir.write_table
        write("records/clean_verdicts.parquet", responses.records(panel))
        if any(text is not None for row in panel.texts for text in row):
            write("records/clean_texts.parquet", text_records(panel))
        methods = {
            name: self._case(context, panel, everybody.of(judges), currency)
            for name, judges in (self.methods or {}).items()
        }
        case = replace(self._case(context, panel, responses, currency), methods=methods)
        by = responses.estimators or (context.estimator({}),)
        ways = {name: own.mechanism.name for name, own in self.contexts(context).items()}
        tables, summary = all_tables(case), case.summary(context)
        exams = {name: one.facts for name, one in responses.exams.items()}
        return Result(
            summary=summary,
            primary="pool/accuracy" if case.has_gold else "pool/agreement",
            headlines=HEADLINES,
            tables=tables,
            figures=figures(tables),
            notes=[*notes(context, case, ways), *mixtures(by, LM)],
            provenance={"clean": origin_of(panel, {"exams": exams})},
            estimators=list(by),
            answer=paragraphs(__package__, "answer.md.j2", summary=summary),
        )

    def ask(self, context: Context) -> None:
        """See Study."""
        self._responses(context)

    def _responses(self, context: Context) -> tuple[Panel, JudgeResponses, str]:
        """Panel, what the judges say of it, and the currency of their prices. What only the end
        needs is checked before a judge is asked."""
        context.no_attack("qualification")
        panel, contexts = context.panels()["clean"], self.contexts(context)
        for name in self.family:
            place_of(panel, name, "study.family")
        if not len(all_pairs(panel)):
            raise ConfigError(
                "study=qualification compares answers: the panel needs two agents that are no "
                "references."
            )
        of_data = context.mechanism.name == RecordedScores.name
        if of_data == bool(contexts):
            raise ConfigError(
                "study.judges names judges to be asked, and mechanism=recorded_scores takes those "
                "of the data: choose one of both."
                if contexts
                else "study=qualification has no judge: add some with "
                "'+evaluation_lm@study.judges.NAME=OPTION' or a list (study.judges=judges.yaml), "
                "or take those of the data with mechanism=recorded_scores."
            )
        if self.recorded is not None and contexts:
            raise ConfigError(
                "study.recorded names judges of the data: leave it out, or choose "
                "mechanism=recorded_scores."
            )
        _one_way(context, contexts)
        prices = replace(read_prices(self.prices), models=self.model_prices)
        for name, one in contexts.items():
            prices.listed(name, one.evaluation_lm.unwrapped)  # raises, if at all, before calls
        exams = {name: exam for name in EXAMS if (exam := getattr(self, name)) is not None}
        responses = (
            ask(context, panel, contexts, exams, prices)
            if contexts
            else recorded_responses(panel, exams, prices)
        )
        return panel, responses, prices.currency

    def _case(
        self, context: Context, panel: Panel, responses: JudgeResponses, currency: str
    ) -> Case:
        marks = {}
        for name, exam in responses.exams.items():
            bar = FIXED.get(name) if self.threshold == "fixed" else None
            answers = exam.by_item
            every = {"length": exam.over_length, "random": lead_over_chance(answers)}
            leads = {key: lead for key, lead in every.items() if lead and key in self.controls}
            marks[name] = mark(answers, bar, self.bootstrap, context.seed, leads)
        pools = exam_pools(responses, marks)
        if "consistency" in marks:
            pools.append(pre_pool(responses, marks["consistency"]))
        gold = preferences_of(panel, responses.pairs)
        if (abs(gold) == 1).any() and len(panel.items) >= FOLDS:
            pools.append(human_pool(responses, gold, panel))
        return Case(
            panel=panel,
            responses=responses,
            marks=marks,
            pools=pools,
            gold=gold,
            family=tuple(self.family),
            currency=currency,
            annotation_cost=math.nan if self.annotation_cost is None else self.annotation_cost,
            draws=self.bootstrap,
            seed=context.seed,
        )


def _one_way(context: Context, contexts: Mapping[str, Context]) -> None:
    """Refuses judges that cannot vote together."""
    ways: dict[bool, str] = {}
    for name, own in contexts.items():
        mechanism = own.mechanism
        if asks_nobody(mechanism):
            raise ConfigError(
                f"study.judges.{name}: mechanism={mechanism.name} asks no LM, and cannot take "
                "exams: it is a control (study.controls). Choose one that does, as "
                "mechanism=pairwise."
            )
        if own.preprocessor is not context.preprocessor:
            raise ConfigError(
                f"study.judges.{name}.preprocessor: all judges read the same texts here: choose "
                "preprocessor for the run."
            )
        ways[mechanism.subject == "choice"] = f"{name} (mechanism={mechanism.name})"
    if len(ways) > 1:
        raise ConfigError(
            f"study.judges: {ways[True]} compares answers, and {ways[False]} grades them: give all "
            "judges mechanisms of one kind."
        )
