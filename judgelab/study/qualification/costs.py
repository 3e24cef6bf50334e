"""What judges' answers took, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import yaml
from numpy.typing import NDArray

from judgelab.calls.prices import PER, Price
from judgelab.calls.remote import Remote
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.resources import conf, own_or_shipped
from judgelab.stats.intervals.arrays import Floats

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Usage:
    """What the answers of several judges took.

    Attributes:
        calls: [judges] questions.
        input_tokens, output_tokens: [judges] of them all; NaN where not known (recorded ones).
    """

    calls: Counts
    input_tokens: Floats
    output_tokens: Floats

    def of(self, rows: Counts) -> Usage:
        """The same of these judges."""
        return Usage(self.calls[rows], self.input_tokens[rows], self.output_tokens[rows])

    @classmethod
    def recorded(cls, calls: Counts) -> Usage:
        """So many calls of which no tokens are known."""
        unknown = np.full(len(calls), np.nan)
        return cls(calls, unknown, unknown)


@dataclass(frozen=True)
class ExamUsage:
    """What an exam took.

    Attributes:
        whole: of each judge.
        more: of each judge, questions left out that its verdicts had answered already.
        writing: by each of the LMs that wrote questions or answers; None where those were recorded.
        writers: these LMs by name, in that order.
    """

    whole: Usage
    more: Usage
    writing: Usage | None = None
    writers: Mapping[str, EvaluationLM] = field(default_factory=dict)

    def of(self, rows: Counts) -> ExamUsage:
        """The same of these judges."""
        return replace(self, whole=self.whole.of(rows), more=self.more.of(rows))


ExamCost = tuple[Floats, Floats, float]
"""What an exam costs, in the currency of the prices: of each judge [judges] the whole and the more
of ``ExamUsage``, and the writing of its questions; NaN where unknown."""


@dataclass(frozen=True)
class JudgePrices:
    """Currency units per million tokens of input and reply together.

    Attributes:
        currency: of all prices.
        tokens_per_call: of a verdict, where nothing better is known (recorded ones).
        judges: judge -> price.
        own: judge -> the price that it was given by name, which comes before any list.
    """

    currency: str
    tokens_per_call: float
    judges: Mapping[str, float]
    own: Mapping[str, Price] = field(default_factory=dict)

    def check(self, asked: Mapping[str, EvaluationLM], model_prices: str | None = None) -> None:
        """Raise what ``cost`` would, before a judge is asked."""
        for name, lm in asked.items():
            self._listed(name, lm.unwrapped, model_prices)

    def _listed(self, name: str, lm: EvaluationLM, model_prices: str | None) -> Price | None:
        """The judge's own price, or that of a model behind an endpoint; None: there is none."""
        listed = lm.priced(model_prices) if isinstance(lm, Remote) else None
        listed = self.own.get(name, listed)
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price of {name} (its own, or that of "
                f"budget.prices) in {listed.currency}: give both in one currency."
            )
        return listed

    def cost(
        self,
        judges: Sequence[str],
        usage: Usage,
        asked: Mapping[str, EvaluationLM],
        model_prices: str | None = None,
    ) -> Floats:
        """[judges] what each judge's answers cost; NaN where unknown, 0 where none were asked for.

        A judge of ``asked`` (now, by name) behind an endpoint costs what the run's price list
        (``model_prices``) says of its model, input and reply each at its price; one that the list
        lacks, that runs here or is recorded, what this list says. One on neither list costs
        nothing if it runs here, and is else unknown.

        Raises:
            ConfigError: the two lists have different currencies.
            DataError: the run's price list cannot be read.
        """
        costs = np.zeros(len(judges))
        for k, judge in enumerate(judges):
            if not usage.calls[k]:
                continue
            flat = self.judges.get(judge, np.nan)
            read, written = float(usage.input_tokens[k]), float(usage.output_tokens[k])
            if judge not in asked:
                costs[k] = flat * (self.tokens_per_call * float(usage.calls[k])) / PER
                continue
            lm = asked[judge].unwrapped
            if listed := self._listed(judge, lm, model_prices):
                costs[k] = listed.cost(read, written)
            else:
                free = judge not in self.judges and not isinstance(lm, Remote)
                costs[k] = (0.0 if free else flat) * (read + written) / PER
        return costs

    def exam_cost(
        self,
        judges: Sequence[str],
        usage: ExamUsage,
        asked: Mapping[str, EvaluationLM],
        model_prices: str | None = None,
    ) -> ExamCost:
        """What an exam of these judges costs; see ``cost`` for what is raised."""
        writing = 0.0
        if usage.writing is not None:
            names, writers = list(usage.writers), usage.writers
            writing = float(self.cost(names, usage.writing, writers, model_prices).sum())
        whole, more = (
            self.cost(judges, each, asked, model_prices) for each in (usage.whole, usage.more)
        )
        return whole, more, writing


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
