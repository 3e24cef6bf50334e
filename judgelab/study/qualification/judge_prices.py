"""What judges cost: a list of their prices, for cost against accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.resources import conf
from judgelab.endpoint.meter import PER, Price, price_of
from judgelab.endpoint.remote import Remote
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.qualification.judge_responses import JudgeResponses


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

        A judge behind an endpoint costs what the run's price list says of its model, input and
        reply each at its price; one that the list lacks, that runs here or is recorded, what this
        list says. One on neither list costs nothing if it runs here, and is else unknown.

        Args:
            asked: the judges that were asked now.
            model_prices: the run's price list (budget.prices).

        Raises:
            ConfigError: the two lists have different currencies.
            DataError: the run's price list cannot be read.
        """
        costs = []
        for k, judge in enumerate(responses.judges):
            flat = self.judges.get(judge, np.nan)
            read, written = float(responses.input_tokens[k]), float(responses.output_tokens[k])
            if judge not in asked:
                costs.append(flat * (self.tokens_per_call * float(responses.calls[k])) / PER)
                continue
            lm = asked[judge].unwrapped
            listed = self._listed(lm, model_prices)
            if listed is not None:
                costs.append(listed.cost(read, written))
                continue
            free = judge not in self.judges and not (lm.replayed or isinstance(lm, Remote))
            costs.append((0.0 if free else flat) * (read + written) / PER)
        return np.array(costs)


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
