"""What judges cost: a list of their prices, for cost against accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.resources import conf
from judgelab.endpoint.prices import Price, price_of
from judgelab.endpoint.remote import Remote
from judgelab.study.qualification.judge_responses import Hearing

FOLDER = conf()
PER = 1_000_000


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
        """Find out before anybody is asked that a cost could not be told.

        Args:
            asked: the judges, counted in a dry run or put to work.
            model_prices: the run's price list (budget.prices).

        Raises:
            ConfigError: the two lists have different currencies.
            DataError: the run's price list cannot be read.
        """
        for lm in asked:
            inner = lm.unwrapped
            if isinstance(inner, Remote):
                self._listed(inner, model_prices)

    def _listed(self, lm: Remote, model_prices: str | None) -> Price | None:
        listed = price_of(lm.model, model_prices)
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price list of models in "
                f"{listed.currency}: give both in one currency (budget.prices=FILE)."
            )
        return listed

    def cost(
        self,
        hearing: Hearing,
        asked: Mapping[str, EvaluationLM],
        model_prices: str | None = None,
    ) -> NDArray[np.float64]:
        """[judges] what each judge's verdicts cost, exams not included; NaN where nobody knows.

        A judge behind an endpoint costs what the run's price list says of its model, input and
        reply each at its price; one that the list lacks, that runs here or is recorded, what this
        list says. Who is on neither costs nothing if it runs here, and is else unknown.

        Args:
            hearing: whose questions and tokens are counted.
            asked: the judges that were asked now.
            model_prices: the run's price list (budget.prices).

        Raises:
            ConfigError: the two lists have different currencies.
            DataError: the run's price list cannot be read.
        """
        return np.array(
            [
                self._cost(hearing, k, asked.get(judge), model_prices)
                for k, judge in enumerate(hearing.judges)
            ]
        )

    def _cost(
        self, hearing: Hearing, k: int, lm: EvaluationLM | None, model_prices: str | None
    ) -> float:
        flat = self.judges.get(hearing.judges[k])
        read, written = float(hearing.input_tokens[k]), float(hearing.output_tokens[k])
        if lm is None:
            tokens = self.tokens_per_call * float(hearing.calls[k])
            return float("nan") if flat is None else flat * tokens / PER
        inner = lm.unwrapped
        if isinstance(inner, Remote):
            listed = self._listed(inner, model_prices)
            if listed is not None:
                return listed.cost(read, written)
        if flat is None and (inner.replayed or isinstance(inner, Remote)):
            return float("nan")
        return (flat or 0.0) * (read + written) / PER


def read_prices(file: str) -> JudgePrices:
    """A name under conf, or a path.

    Raises:
        DataError: the list cannot be read.
    """
    path = Path(file) if Path(file).is_file() else FOLDER / file
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
