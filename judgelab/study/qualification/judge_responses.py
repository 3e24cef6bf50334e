"""What every judge says about a panel and in the exams, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
import yaml
from numpy.typing import NDArray

from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import conf
from judgelab.endpoint.meter import PER, Price, price_of
from judgelab.endpoint.remote import Remote
from judgelab.engine.context import Context
from judgelab.engine.references import without_reference_texts
from judgelab.engine.usage import UsageCount
from judgelab.exam.protocol import Answers, Exam
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.decisions import Orders, gaps_of, votes_of
from judgelab.stats.qualification.exams import ExamAnswers, confidence, shares

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class JudgeResponses:
    """Verdicts or grades and exam answers of all judges; arrays are NaN where unscored.

    Attributes:
        judges: names, in the order of all arrays.
        pairs: [pairs, 2] agents of each pair of answers.
        verdicts: [judges, items, pairs, orders] does the pair's first answer win; None where the
            judges grade answers one by one.
        grades: [judges, items, agents]; None where they compare answers.
        exams: exam -> answers; an exam that no judge took is absent.
        calls: [judges] questions behind verdicts or grades.
        input_tokens, output_tokens: [judges] of them all; NaN where not known (recorded ones).
        taken: exam -> [judges] who took it, those with unreadable answers alone among them.
        facts: exam -> how it was set.
        tied: [judges] share of the consistency exam's answers that are ties before and after the
            change; NaN where it was not taken.
        missing: sentences on exams that judges did not take, and on what was recorded.
        measured: judge -> what the mechanism measured (asked now), for the records.
    """

    judges: tuple[str, ...]
    pairs: Counts
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    calls: Counts
    input_tokens: Floats
    output_tokens: Floats
    taken: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]]
    tied: Floats
    missing: tuple[str, ...] = ()
    measured: Mapping[str, xr.Dataset] = field(default_factory=dict)

    def votes(self, orders: Orders = "merged") -> Floats:
        """[judges, items, pairs(, orders)] for the pair's first answer."""
        if self.verdicts is not None:
            return votes_of(self.verdicts, orders)
        assert self.grades is not None
        return gaps_of(self.grades, self.pairs)

    def named(self, mask: NDArray[np.bool_]) -> str:
        """The judges of a mask, with commas between them."""
        return ", ".join(judge for judge, inside in zip(self.judges, mask, strict=True) if inside)

    def records(self, panel: Panel) -> pd.DataFrame:
        """One row per judge, item and pair (both orders), or per judge, item and answer."""
        names = np.array([agent.name for agent in panel.agents])
        cells = self.grades if self.verdicts is None else self.verdicts[..., 0]
        assert cells is not None
        judge, item, column = (grid.ravel() for grid in np.indices(cells.shape))
        items = np.array([item.id for item in panel.items])
        head = {"judge": np.array(self.judges)[judge], "item": items[item]}
        if self.verdicts is None:
            return pd.DataFrame({**head, "agent": names[column], "grade": cells.ravel()})
        first, second = names[self.pairs][column].T
        won = {"first_wins": cells.ravel()}
        won |= {"first_wins_shown_second": self.verdicts[..., 1].ravel()}
        return pd.DataFrame({**head, "first": first, "second": second, **won})


def both_orders(cells: Floats, pairs: Counts) -> Floats:
    """[judges, items, pairs, orders] of [judges, items, agent, peer]: does the first answer win."""
    first, second = pairs.T
    return np.stack([cells[:, :, first, second], 1 - cells[:, :, second, first]], axis=-1)


def ask(
    context: Context,
    panel: Panel,
    pairs: Counts,
    judges: Mapping[str, EvaluationLM],
    exams: Mapping[str, Exam],
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    _able(context, judges, exams)
    papers = {
        name: exam.prepare(panel, context.writer, seed=context.seed) for name, exam in exams.items()
    }
    shown = panel if context.mechanism.subject == "pair" else without_reference_texts(panel)
    measured, answers = {}, {name: list[Answers]() for name in exams}
    bills = []
    for judge, lm in judges.items():
        bills.append(UsageCount(lm))
        context.tell(judge, 0)
        measured[judge] = replace(context, evaluation_lm=bills[-1], spread=alone).measure(shown)
        for name, exam in exams.items():
            context.tell(f"{judge}, {name}", 0)
            answers[name].append(exam.take(papers[name], lm, seed=context.seed))
    taken = {name: np.array([not one.absence for one in each]) for name, each in answers.items()}
    taken = {name: each for name, each in taken.items() if each.any()}
    verdicts, grades = _arrays(context, list(measured.values()), pairs)
    return JudgeResponses(
        tuple(judges),
        pairs,
        verdicts,
        grades,
        {name: stacked(answers[name]) for name in taken},
        np.array([bill.calls for bill in bills], dtype=np.int64),
        np.array([bill.input_tokens for bill in bills], dtype=np.float64),
        np.array([bill.output_tokens for bill in bills], dtype=np.float64),
        taken,
        {name: papers[name].facts for name in taken},
        ties_of(answers, len(judges)),
        _absences(answers, list(judges)),
        measured=measured,
    )


def _absences(answers: Mapping[str, Sequence[Answers]], judges: Sequence[str]) -> tuple[str, ...]:
    """A sentence on each exam that some judge did not take, and why."""
    said = []
    for exam, each in answers.items():
        for reason in dict.fromkeys(one.absence for one in each if one.absence):
            who = [j for j, one in zip(judges, each, strict=True) if one.absence == reason]
            said.append(f"Exam {exam} was not taken by {', '.join(who)}: {reason}.")
            if len(who) == len(judges):
                said[-1] += " No judge took this exam, and no pool requires it."
    return tuple(said)


def _able(context: Context, judges: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]) -> None:
    for name, exam in exams.items():
        for judge, lm in judges.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot take study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if not exam.setter <= context.writer.capabilities:
            raise CapabilityError(
                f"study.{name} has its questions set by an LM that can do "
                f"{', '.join(sorted(exam.setter))}: choose evaluation_lm@writer_lm=OPTION."
            )


def _arrays(
    context: Context, data: Sequence[xr.Dataset], pairs: Counts
) -> tuple[Floats | None, Floats | None]:
    """Verdicts where the mechanism compares answers, else grades."""
    if all("verdict" in each for each in data):
        return both_orders(np.stack([each["verdict"].values for each in data]), pairs), None
    return None, np.stack([context.mechanism.score(each).agent.values for each in data])


def ties_of(answers: Mapping[str, Sequence[Answers]], judges: int) -> Floats:
    """[judges] share of ties in the consistency exam; NaN where it was not taken."""
    given = answers.get("consistency") or [Answers(np.empty(0))] * judges
    return np.array([each.tied for each in given])


def stacked(answers: Sequence[Answers]) -> ExamAnswers:
    """What the judges answered in one exam, summed over each item."""
    scored = np.stack([each.scored for each in answers])
    hard = [each.hard for each in answers if each.hard is not None]
    return confidence(scored, np.stack(hard)) if hard else shares(scored)


@dataclass(frozen=True)
class JudgePrices:
    """Currency units per million tokens of input and reply together.

    Attributes:
        currency: of all prices.
        tokens_per_call: of a verdict, where nothing better is known (recorded ones).
        judges: judge -> price.
    """

    currency: str
    tokens_per_call: float
    judges: Mapping[str, float]

    def check(self, asked: Iterable[EvaluationLM], model_prices: str | None = None) -> None:
        """Raise what ``cost`` would, before a judge is asked."""
        for lm in asked:
            self._listed(lm.unwrapped, model_prices)

    def _listed(self, lm: EvaluationLM, model_prices: str | None) -> Price | None:
        """The price of a model behind an endpoint; None where there is none."""
        listed = price_of(lm.model, model_prices) if isinstance(lm, Remote) else None
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price list of models in "
                f"{listed.currency}: give both in one currency (budget.prices=FILE)."
            )
        return listed

    def cost(
        self,
        responses: JudgeResponses,
        asked: Mapping[str, EvaluationLM],
        model_prices: str | None = None,
    ) -> Floats:
        """[judges] what each judge's verdicts cost, exams not included; NaN where unknown.

        A judge of ``asked`` (now, by name) behind an endpoint costs what the run's price list
        (``model_prices``) says of its model, input and reply each at its price; one that the list
        lacks, that runs here or is recorded, what this list says. One on neither list costs
        nothing if it runs here, and is else unknown.

        Raises:
            ConfigError: the two lists have different currencies.
            DataError: the run's price list cannot be read.
        """
        costs = np.empty(len(responses.judges))
        for k, judge in enumerate(responses.judges):
            flat = self.judges.get(judge, np.nan)
            read, written = float(responses.input_tokens[k]), float(responses.output_tokens[k])
            if judge not in asked:
                costs[k] = flat * (self.tokens_per_call * float(responses.calls[k])) / PER
                continue
            lm = asked[judge].unwrapped
            if listed := self._listed(lm, model_prices):
                costs[k] = listed.cost(read, written)
            else:
                free = judge not in self.judges and not (lm.replayed or isinstance(lm, Remote))
                costs[k] = (0.0 if free else flat) * (read + written) / PER
        return costs


def read_prices(file: str) -> JudgePrices:
    """A name under conf, or a path.

    Raises:
        DataError: the list cannot be read.
    """
    path = Path(file) if Path(file).is_file() else conf() / file
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        return JudgePrices(
            str(listed["currency"]),
            float(listed["tokens_per_call"]),
            {str(k): float(v) for k, v in listed["judges"].items()},
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}: {cause}): it needs "
            "currency, tokens_per_call, and judges with a price per million tokens each."
        ) from cause
