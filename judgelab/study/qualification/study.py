"""Which judges are fit to judge, and how to pool them? (Auto-PRE paper)"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.estimator import LM, mixed
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.exam.protocol import Exam
from judgelab.mechanism.protocol import Mechanism
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob
from judgelab.stats.qualification.decisions import Weighting
from judgelab.stats.qualification.exams import mark, over_chance
from judgelab.study.common.judges import NamedJudge, asks_nobody, asks_of, named
from judgelab.study.common.panels import text_records
from judgelab.study.qualification import tables
from judgelab.study.qualification.asking import ask, judges_of, refuse_mixed, refuse_unfit, unasked
from judgelab.study.qualification.case import (
    Case,
    all_pairs,
    family_pairs,
    grades_of,
    preferences_of,
)
from judgelab.study.qualification.compare import HEADLINES, compare
from judgelab.study.qualification.controls import Control
from judgelab.study.qualification.costs import JudgePrices, read_prices
from judgelab.study.qualification.figures import DRAWINGS
from judgelab.study.qualification.judge_responses import JudgeResponses
from judgelab.study.qualification.pools import (
    FOLDS,
    consistent,
    examined,
    filtered_by_people,
    single,
)
from judgelab.study.qualification.recorded import is_recorded, recall
from judgelab.study.qualification.words import answer, notes

EXAMS = ("consistency", "pertinence", "self_confidence")
FIXED = {"consistency": 0.55, "pertinence": 0.5}
"""Thresholds of the exams that have one: PRE's for P_c, and chance."""


@dataclass(frozen=True)
class Qualification(Study):
    """Exams, pass list and pools of several judges; held against people's annotation if any.

    The judges answer by the run's mechanism (pairwise, pointwise5, ...; chat_eval and gptscore
    too), or each by one of its own, and take the exams. A judge that passes the exams of a pool
    votes in it. Where people
    graded answers, every judge and pool gets an accuracy on pairs, Spearman's rho over answers
    and a bias rate, with intervals and tests over items. Without annotation there are the exams,
    the pools, and how far judges agree.

    Args:
        judges: name -> LM, or name -> evaluation_lm, mechanism and price, each as far as it is not
            the run's; or a file or list of names of options (``judgelab.config.judges``). Each is
            asked through the run's cache and budget. None with mechanism=recorded_scores.
        recorded: with mechanism=recorded_scores, names of judges of the data; null: all.
        methods: name -> judges; each is held against the pool of all exams: the pool that the
            exams make of these judges, or the judge where it is one (a recorded debate). Recorded
            ones need not be among ``recorded``.
        consistency, pertinence, self_confidence: exams P_c, P_p, P_s; null: not taken. Of
            judges of the data consistency alone is known.
        threshold: of P_c and P_p: the ``mean`` of the candidates, or ``fixed`` (.55 and .5).
        controls: ``length`` and ``random`` take every exam; a judge that is no better than one
            fails the exam, whatever the threshold. Random decides in all, length in pertinence
            (nobody can be more consistent, and it is surer where lengths differ more). Empty:
            none, as in the paper. Recorded exams have random alone.
        weights: of the judges in a pool: equal, score or mean (stats.qualification).
        family: agents of one model family, whose bias rate is asked for; empty: none.
        prices: YAML with the judges' prices: a name under conf, or a path.
        model_prices: price list of models behind an endpoint; null: conf/prices.yaml.
        annotation_cost: what the human filter's annotation cost, in the currency of the prices
            (the paper says 115 USD for each of its own); null: not known, nor is its cost then.
        bootstrap: resamples of the items, and sign flips.
    """

    judges: Any
    consistency: Any = None
    pertinence: Any = None
    self_confidence: Any = None
    recorded: Sequence[str] | None = None
    methods: Mapping[str, Sequence[str]] | None = None
    threshold: Literal["mean", "fixed"] = "mean"
    controls: Sequence[Control] = ("length", "random")
    weights: Weighting = "score"
    family: Sequence[str] = ()
    prices: str = "judge_prices.yaml"
    model_prices: str | None = None
    annotation_cost: NotNegative | None = None
    bootstrap: Count = 2000
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """See Study."""
        return compare(runs)

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", refuse_unfit(named(self.judges)))
        for name, judges in (self.methods or {}).items():
            if not judges or len(set(judges)) < len(judges):
                raise ConfigError(f"study.methods.{name}={list(judges)}: name judges, each once.")
            for judge in judges if self.judges else ():
                if judge not in self.judges:
                    raise ConfigError(
                        f"study.methods.{name}: no judge is called {judge!r}."
                        f"{did_you_mean(judge, self.judges)}"
                    )

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Qualification:
        """See Study."""
        exams: dict[str, Any] = {
            name: exam.with_lms(partial(_placed, use, name)) for name, exam in self._exams.items()
        }
        judges: dict[str, NamedJudge] = self.judges
        asked = {name: one.with_lm(partial(use, f"judges.{name}")) for name, one in judges.items()}
        return replace(self, judges=asked, **exams)

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """See Study."""
        return asks_of(self.judges, mechanism, lm)  # without any, _responses says what to do

    def run(self, context: Context) -> Result:
        """Ask the judges, mark the exams, pool, and compare.

        Raises:
            ConfigError: no judges, no pair of answers, an exam that does not fit the panel, an
                unknown agent in the family, or price lists in two currencies.
            DataError: a price list cannot be read.
            CapabilityError: a judge cannot do what the mechanism or an exam needs.
        """
        panel, prices = self._settled(context)
        responses = self._responses(context, panel, prices)
        write = context.run_dir.write_table
        write("records/clean_verdicts.parquet", responses.records(panel))
        if any(text is not None for row in panel.texts for text in row):
            write("records/clean_texts.parquet", text_records(panel))
        case = self._case(context, panel, responses, prices.currency)
        case = self._with_methods(context, panel, case, prices)
        asked = self._asked(context)
        by = [asked[name].estimator(data.attrs) for name, data in responses.measured.items()] or [
            context.estimator({})
        ]  # recorded verdicts have one for all judges
        write("records/clean_decisions.parquet", case.records(panel))
        ways = {name: own.mechanism.name for name, own in asked.items()}
        made = tables.all_tables(case)
        summary = case.summary(context, panel)
        return Result(
            summary=summary,
            primary="pool/accuracy" if case.known else "pool/agreement",
            headlines=HEADLINES,
            tables=made,
            figures=tables.figures(made),
            notes=[*notes(context, panel, case, ways), *mixed(by, LM)],
            provenance={"clean": origin_of(panel, {"exams": responses.facts})},
            estimators=by,
            answer=answer(summary),
        )

    def ask(self, context: Context) -> None:
        """See Study."""
        self._responses(context, *self._settled(context))

    def _settled(self, context: Context) -> tuple[Panel, JudgePrices]:
        """Panel and prices; what is only needed in the end is checked before a judge is asked."""
        context.no_attack("qualification")
        panel = context.panels()["clean"]
        names = [agent.name for agent in panel.agents]
        for name in self.family:
            if name not in names:
                raise ConfigError(
                    f"study.family: no agent is called {name!r}.{did_you_mean(name, names)}"
                )
        judges: dict[str, NamedJudge] = self.judges
        own = {name: one.price for name, one in judges.items() if one.price is not None}
        prices = replace(read_prices(self.prices), own=own, models=self.model_prices)
        for name, lm in judges_of(self._asked(context)).items():
            prices.listed(name, lm.unwrapped)  # raises, if at all, before a judge is asked
        return panel, prices

    def _responses(self, context: Context, panel: Panel, prices: JudgePrices) -> JudgeResponses:
        pairs = all_pairs(panel)
        if not len(pairs):
            raise ConfigError(
                "study=qualification compares answers: the panel needs two agents that are no "
                "references."
            )
        if is_recorded(context):
            if self.judges:
                raise ConfigError(
                    "mechanism=recorded_scores asks no judge: leave out study.judges, or choose "
                    "another mechanism."
                )
            return recall(panel, pairs, self.recorded, self._exams, prices)
        if self.recorded is not None:
            raise ConfigError(
                "study.recorded names judges of the data: leave it out, or choose "
                "mechanism=recorded_scores."
            )
        if not self.judges and not asks_nobody(context.mechanism):
            raise ConfigError(
                "study.judges is empty: add judges with '+evaluation_lm@study.judges.NAME=OPTION', "
                "name a list of them (study.judges=judges.yaml), or take the judges of the data "
                "(mechanism=recorded_scores)."
            )
        asked = self._asked(context)
        refuse_mixed(asked)
        return ask(context, panel, pairs, asked, self._exams, self.controls, prices)

    def _asked(self, context: Context) -> dict[str, Context]:
        """Judge -> the context in which it is asked; a mechanism that asks none is one judge."""
        if asks_nobody(context.mechanism):
            return {context.mechanism.name: context}
        judges: dict[str, NamedJudge] = self.judges
        return {name: one.within(context) for name, one in judges.items()}

    @property
    def _exams(self) -> dict[str, Exam]:
        """Those that are taken."""
        return {name: exam for name in EXAMS if (exam := getattr(self, name)) is not None}

    def _case(
        self, context: Context, panel: Panel, responses: JudgeResponses, currency: str
    ) -> Case:
        gold, marks = preferences_of(panel, responses.pairs), {}
        for name, answers in responses.exams.items():
            bar = FIXED.get(name) if self.threshold == "fixed" else None
            leads = dict(responses.leads.get(name, {}))
            leads |= {"random": over_chance(answers)} if "random" in self.controls else {}
            marks[name] = mark(answers, bar, self.bootstrap, context.seed, leads)
        pools = examined(responses, marks, self.weights)
        if "consistency" in marks:
            pools.append(consistent(responses, marks["consistency"]))
        names = [agent.name for agent in panel.agents]
        missing = [*responses.missing, *unasked(context, self.judges)]
        known = bool((abs(gold) == 1).any())
        if known and len(panel.items) >= FOLDS:
            pools.append(filtered_by_people(responses, gold))
        elif known:
            missing.append(
                f"There is no human filter: {len(panel.items)} items do not make {FOLDS} folds."
            )
        if self.family and not family_pairs(names, responses.pairs, self.family)[1].any():
            missing.append(
                "There is no bias rate: no pair has an answer by study.family against one by "
                "another agent that is no reference."
            )
        elif self.family and not known:
            missing.append("There is no bias rate of study.family: people prefer no answer.")
        return Case(
            responses=responses,
            agents=names,
            marks=marks,
            singles=[single(responses, k) for k in range(len(responses.judges))],
            pools=pools,
            gold=gold,
            human=grades_of(panel),
            family=tuple(self.family),
            currency=currency,
            annotation_cost=math.nan if self.annotation_cost is None else self.annotation_cost,
            missing=tuple(missing),
            draws=self.bootstrap,
            seed=context.seed,
        )

    def _with_methods(
        self, context: Context, panel: Panel, case: Case, prices: JudgePrices
    ) -> Case:
        """The case with those of its methods beside it."""
        lists = {name: list(judges) for name, judges in (self.methods or {}).items()}
        lists = {} if asks_nobody(context.mechanism) and not is_recorded(context) else lists
        known = case.responses
        wanted = list(dict.fromkeys(judge for judges in lists.values() for judge in judges))
        if lists and is_recorded(context):
            known = recall(panel, known.pairs, wanted, self._exams, prices)
        made = {
            name: self._case(context, panel, known.of(judges), prices.currency)
            for name, judges in lists.items()
        }
        lost = tuple(
            f"Method {name}: no judge passes all exams, so that it decides nothing."
            for name, one in made.items()
            if not one.outcome.members.any()
        )
        found = {name: one for name, one in made.items() if one.outcome.members.any()}
        return replace(case, methods=found, missing=(*case.missing, *lost))


def _placed(
    use: Callable[[str, EvaluationLM], EvaluationLM], exam: str, name: str, lm: EvaluationLM
) -> EvaluationLM:
    """An exam's own LM by its place in the study."""
    return use(f"{exam}.{name}", lm)
