"""What judges cost, in currency units per million tokens of input and reply together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import yaml
from pydantic import TypeAdapter

from judgelab.calls.budget import PER, Price
from judgelab.calls.log import LoggedLM
from judgelab.calls.remote import Remote
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.resources import conf, own_or_shipped
from judgelab.stats.intervals.arrays import Floats


@dataclass(frozen=True)
class JudgePrices:
    """Prices of judges by their names, and of models by a list of theirs."""

    currency: str  # of all prices
    tokens_per_call: float  # of a verdict, where nothing better is known (recorded ones)
    judges: Mapping[str, float]  # judge -> price
    models: str | None = None  # the run's list of models behind an endpoint; None: conf/prices.yaml

    def listed(self, name: str, lm: EvaluationLM) -> Price | None:
        """The price of a model behind an endpoint; None: there is none.

        Raises:
            ConfigError: the price is in another currency.
            DataError: the run's price list cannot be read.
        """
        listed = lm.priced(self.models) if isinstance(lm, Remote) else None
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price of {name} (of "
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
        return TypeAdapter(JudgePrices).validate_python(listed)
    except (OSError, yaml.YAMLError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}): it needs currency, "
            "tokens_per_call, and judges with a price per million tokens each."
        ) from cause
