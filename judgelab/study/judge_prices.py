"""What judges cost: a list of their prices, for cost against accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from judgelab.endpoint.prices import price_of
from judgelab.errors import DataError
from judgelab.evaluation_lm.cached import Cached
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.evaluation_lm.remote import Remote
from judgelab.study.hearing import Hearing

FOLDER = Path(__file__).resolve().parents[2] / "conf"
PER = 1_000_000


@dataclass(frozen=True)
class JudgePrices:
    """Currency units per million tokens of input and reply together.

    Attributes:
        currency: of all prices.
        tokens_per_call: of a verdict, where nothing better is known.
        judges: judge -> price; a judge that is not listed has no known cost.
        annotation: what the human filter's annotation costs.
    """

    currency: str
    tokens_per_call: float
    judges: Mapping[str, float]
    annotation: float

    def cost(
        self, hearing: Hearing, asked: Mapping[str, EvaluationLM], prices: str | None = None
    ) -> NDArray[np.float64]:
        """[judges] what each judge's verdicts cost; NaN where its price is not known.

        A judge on this list costs that; one behind a network what the run's price list says; one
        that runs here nothing.
        """
        found = []
        for k, judge in enumerate(hearing.judges):
            tokens = hearing.tokens[k] if np.isfinite(hearing.tokens[k]) else self.tokens_per_call
            price = self.judges.get(judge)
            lm = asked.get(judge)
            inner = lm.lm if isinstance(lm, Cached) else lm
            if price is None and isinstance(inner, Remote):
                listed = price_of(inner.model, prices)
                price = None if listed is None else listed.input
            elif price is None and lm is not None:
                price = 0.0
            found.append(np.nan if price is None else price * tokens * hearing.calls[k] / PER)
        return np.array(found)


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
            float(listed.get("annotation", 0.0)),
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}: {cause}): it needs "
            "currency, tokens_per_call, and judges with a price per million tokens each."
        ) from cause
