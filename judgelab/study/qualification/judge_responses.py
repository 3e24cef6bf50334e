"""What every judge says about a panel and in the exams, and what that costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from judgelab.calls.log import LoggedLM
from judgelab.calls.models import PER, Price
from judgelab.calls.remote import Remote
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.estimator import Estimator
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import conf, own_or_shipped
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.decisions import gaps_of, votes_of
from judgelab.stats.qualification.exams import (
    Bools,
    ExamAnswers,
    Shares,
    shares,
    tied,
    unchanged,
)

Counts = NDArray[np.int64]
ExamCost = tuple[Floats, Floats, float]
"""What an exam costs: of each judge [judges] all its answers, and those that its verdicts had not
given already; and the writing of its questions. NaN where unknown."""


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
        cost: [judges] of verdicts or grades; NaN where unknown.
        taken: exam -> [judges] who took it, those with unreadable answers alone among them.
        facts: exam -> how it was set.
        tied: [judges] share of the consistency exam's answers that are ties before and after the
            change; NaN where it was not taken.
        missing: sentences on exams that judges did not take, and on what was recorded.
        over_length: exam -> the judges' lead over the longer answer, where that decides.
        estimators: what verdicts are estimates by; recorded ones do not say.
        exam_costs: exam -> what it cost.
        confidences: judge -> [items, ...] confidence on the easy and on the hard set.
    """

    judges: tuple[str, ...]
    pairs: Counts
    verdicts: Floats | None
    grades: Floats | None
    exams: Mapping[str, ExamAnswers]
    cost: Floats
    taken: Mapping[str, NDArray[np.bool_]]
    facts: Mapping[str, Mapping[str, object]]
    tied: Floats
    missing: tuple[str, ...] = ()
    over_length: Mapping[str, Shares] = field(default_factory=dict)
    estimators: tuple[Estimator, ...] = ()
    exam_costs: Mapping[str, ExamCost] = field(default_factory=dict)
    confidences: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> JudgeResponses:
        """The same of these judges alone, in this order, without exams that none of them took.

        Raises:
            ConfigError: one is unknown.
        """
        for name in names:
            if name not in self.judges:
                known = did_you_mean(name, self.judges)
                raise ConfigError(f"study.recorded, study.methods: no judge is {name!r}.{known}")
        rows = np.array([self.judges.index(name) for name in names], dtype=np.int64)
        taken = {exam: took[rows] for exam, took in self.taken.items() if took[rows].any()}
        return replace(
            self,
            judges=tuple(names),
            verdicts=None if self.verdicts is None else self.verdicts[rows],
            grades=None if self.grades is None else self.grades[rows],
            exams={exam: self.exams[exam].of(rows) for exam in taken},
            cost=self.cost[rows],
            taken=taken,
            tied=self.tied[rows],
            over_length={exam: lead.of(rows) for exam, lead in self.over_length.items()},
            exam_costs={
                exam: (whole[rows], more[rows], writing)
                for exam, (whole, more, writing) in self.exam_costs.items()
            },
        )

    @property
    def votes(self) -> Floats:
        """[judges, items, pairs] for the pair's first answer; both orders are one vote."""
        if self.verdicts is not None:
            return votes_of(self.verdicts)
        assert self.grades is not None
        return gaps_of(self.grades, self.pairs)

    def named(self, mask: Bools) -> str:
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


def recorded(
    panel: Panel, pairs: Counts, exams: Collection[str], prices: JudgePrices
) -> JudgeResponses:
    """What judges said according to the data (mechanism=recorded_scores), and no one is asked.

    Verdicts on pairs in both orders, or grades; of exams, consistency follows from verdicts.

    Args:
        exams: those wanted.

    Raises:
        ConfigError: the data hold no verdicts.
    """
    table = panel.judgments
    if table is None or not table.judges:
        raise ConfigError(
            "mechanism=recorded_scores: the data hold no verdicts of judges. Name their columns "
            "(dataset.judges=[...]), or ask judges with another mechanism."
        )
    items = {item.id: k for k, item in enumerate(panel.items)}
    agents = {agent.name: k for k, agent in enumerate(panel.agents)}
    kept = np.array([one in items for one in table.units.item], dtype=np.bool_)
    units = table.units.at(np.flatnonzero(kept))
    verdicts, asked = table.verdicts[:, kept], table.asked[:, kept]
    names, counts = tuple(table.names), asked.reshape(len(asked), -1).sum(axis=1).tolist()
    cost = prices.recorded(dict(zip(names, counts, strict=True)))
    compared: Floats | None = None
    grades: Floats | None = None
    answers: dict[str, ExamAnswers] = {}
    ties = np.full(len(names), np.nan)
    where = zip(units.item, units.first, units.second, strict=True)
    if table.kind == "preference":
        sides = {(i, j): k for k, (i, j) in enumerate(pairs.tolist())}
        compared = np.full((len(names), len(items), len(pairs), 2), np.nan)
        for k, (item, one, two) in enumerate(where):
            i, j, row = agents[one], agents[two], items[item]
            if (i, j) in sides:
                compared[:, row, sides[i, j]] = verdicts[:, k]
            elif (j, i) in sides:  # the other text is the pair's first, and was shown so second
                compared[:, row, sides[j, i]] = 1 - verdicts[:, k, ::-1]
        if "consistency" in exams:
            orders = compared[..., 0], compared[..., 1]
            answers["consistency"] = shares(unchanged(*orders))
            ties = np.array([tied(*both) for both in zip(*orders, strict=True)])
    else:
        grades = np.full((len(names), len(items), len(agents)), np.nan)
        for k, (item, one, _) in enumerate(where):
            grades[:, items[item], agents[one]] = verdicts[:, k, 0]
    return JudgeResponses(
        names,
        pairs,
        compared,
        grades,
        answers,
        cost,
        taken={name: each.counts[0] > 0 for name, each in answers.items()},
        facts={name: {"change": "position"} for name in answers},
        tied=ties,
        missing=tuple(
            f"Exam {name}: the data hold no answers of judges in it, so that no judge took it and "
            "no pool requires it."
            for name in exams
            if name not in answers
        ),
        exam_costs={name: (cost, np.zeros(len(names)), 0.0) for name in answers},
    )


@dataclass(frozen=True)
class JudgePrices:
    """Currency units per million tokens of input and reply together.

    Attributes:
        currency: of all prices.
        tokens_per_call: of a verdict, where nothing better is known (recorded ones).
        judges: judge -> price.
        own: judge -> the price that it was given by name, which comes before any list.
        models: the run's price list of models behind an endpoint; None: conf/prices.yaml.
    """

    currency: str
    tokens_per_call: float
    judges: Mapping[str, float]
    own: Mapping[str, Price] = field(default_factory=dict)
    models: str | None = None

    def listed(self, name: str, lm: EvaluationLM) -> Price | None:
        """The judge's own price, or that of a model behind an endpoint; None: there is none.

        Raises:
            ConfigError: the price is in another currency.
            DataError: the run's price list cannot be read.
        """
        listed = lm.priced(self.models) if isinstance(lm, Remote) else None
        listed = self.own.get(name, listed)
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price of {name} (its own, or that of "
                f"budget.prices) in {listed.currency}: give both in one currency."
            )
        return listed

    def asked(
        self, lms: Mapping[str, LoggedLM], without: Mapping[str, LoggedLM] | None = None
    ) -> Floats:
        """[LMs] what their logged answers cost; NaN where unknown, 0 where there are none.

        One behind an endpoint costs what the run's price list says of its model, input and reply
        each at its price; one that the list lacks, or that runs here, what this list says. One on
        neither list costs nothing if it runs here, and is else unknown.

        Args:
            without: of the same names; what these were asked, too, is left out.
        """
        costs = np.zeros(len(lms))
        for k, (name, logged) in enumerate(lms.items()):
            log = logged.log if without is None else logged.log.beyond(without[name].log)
            lm, tokens = logged.unwrapped, log.input_tokens + log.output_tokens
            if not log.answered:
                continue
            if listed := self.listed(name, lm):
                costs[k] = listed.cost(log.input_tokens, log.output_tokens)
            elif name in self.judges or isinstance(lm, Remote):
                costs[k] = self.judges.get(name, np.nan) * tokens / PER
        return costs

    def recorded(self, calls: Mapping[str, float]) -> Floats:
        """[judges] what so many recorded verdicts cost; NaN where the list lacks the judge."""
        per_call = self.tokens_per_call / PER
        costs = [n and self.judges.get(name, np.nan) * n * per_call for name, n in calls.items()]
        return np.array(costs, dtype=np.float64)


def read_prices(file: str) -> JudgePrices:
    """A name under conf, or a path.

    Raises:
        DataError: the list cannot be read.
    """
    path = own_or_shipped(file, conf())
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
