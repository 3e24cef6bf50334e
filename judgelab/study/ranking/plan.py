"""How many items, and how good a judge? Before anything is spent (ranking-confidence paper)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.special import ndtr

from judgelab.core.bounds import ConfidenceLevel, Correlation, NotNegative, Positive
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.result import Result, Row
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.confidence import population, required_n
from judgelab.study.common.templates import paragraphs, sentences, table

STEPS = (0.1, 0.2, 0.3)  # by which other judges are better
NAMES = {
    "r": "correlation with people, r",
    "sd": "sd of human scores",
    "system_bias_sd": "bias between systems (sd)",
    "item_correlation": "correlation of two systems on one item",
}


Numbers = Mapping[str, tuple[Estimate, str]]
"""A name of ``NAMES`` -> the number, with its interval where it was estimated; and where from."""


def _value(numbers: Numbers, name: str) -> float:
    """A number that must not be guessed. ConfigError: nothing says it; DataError: a correlation
    that is not above 0, or that the data cannot tell."""
    if name not in numbers:
        raise ConfigError(
            f"study=plan does not guess the {NAMES[name]}: give study.{name}, or have it read by "
            "study.train_run=FOLDER (a finished run on texts with human scores)."
        )
    number, origin = numbers[name]
    if math.isnan(number.value):
        raise DataError(
            f"study=plan: no {NAMES[name]} in {origin}: the scores there do not vary, or no text "
            f"has both. Give study.{name}."
        )
    if name == "r" and number.value <= 0:
        raise DataError(
            f"study=plan: the judge correlates with people at r = {number.value:.2f} ({origin}): "
            "no number of items makes its ranking theirs."
        )
    return number.value


@dataclass(frozen=True, kw_only=True)
class Plan(Study):
    """The items a ranking needs, what a better judge would save, and what it costs.

    Nothing is measured: no dataset is loaded and no LM is asked. The systems answer the same
    items; a judge that correlates r with people rates every text once. A correlation of two systems
    that is neither given nor read is 0, the careful choice; such a bias between systems, too, as
    the paper has it, and then the confidence is an upper bound.
    """

    delta: Positive | None = None
    confidence: ConfidenceLevel = 0.95
    train_run: str | None = None
    r: Correlation | None = None
    sd: Positive | None = None
    item_correlation: Annotated[float, Field(ge=0, lt=1)] | None = None
    system_bias_sd: NotNegative | None = None
    systems: Annotated[int, Field(ge=2)] = 2
    price: NotNegative | None = None
    named_by: ClassVar[Sequence[str]] = ()

    def ask(self, context: Context) -> None:
        """See Study: nothing is asked."""

    def run(self, context: Context) -> Result:
        """Compute, in closed form; nothing of the context matters.

        Raises:
            ConfigError: a number that must not be guessed (delta, sd, r) is neither given nor read.
            DataError: the run cannot be read.
        """
        if self.delta is None:
            raise ConfigError(
                "study=plan needs study.delta: the difference of two systems' mean human scores "
                "that is to be ranked right, in the unit of those scores (grades from 1 to 5: .5, "
                "shares from 0 to 1: .05)."
            )
        delta = self.delta
        numbers, scores, empty = self._numbers()
        r, sd = (_value(numbers, name) for name in ("r", "sd"))
        shared, bias = (
            numbers[name][0].value if name in numbers else 0.0
            for name in ("item_correlation", "system_bias_sd")
        )
        # both systems answer the same items
        fixed: dict[str, Any] = {"item_correlation": shared}
        fixed |= {"sd": sd} if scores is None else {"scores": scores}

        def items_for(r: float, bias: float = bias) -> float:
            return required_n(r, delta, self.confidence, system_bias_sd=bias, **fixed)

        items = items_for(r)
        plan: dict[str, Any] = {
            "r": r,
            "delta": delta,
            "sd": sd,
            "confidence": self.confidence,
            "system_bias_sd": bias,
            "ceiling": float(ndtr(delta / bias / math.sqrt(2))) if bias else 1.0,
            "required_items": items,
            "required_items_without_bias": items_for(r, 0.0),
            "rated_texts": items * self.systems,
            "cost": self._cost(items),
            "item_correlation": shared,
        }
        better = (round(r + step, 6) for step in STEPS if r + step <= 1)
        judges = [self._judge(one, items_for(one), items) for one in sorted([r, *better])]
        rows: list[Row] = [
            {"quantity": NAMES[name], **one.as_dict(), "from": origin}
            for name, (one, origin) in numbers.items()
        ]
        words = {**plan, "items": items, "systems": self.systems, "price": self.price}
        words |= {"best": judges[-1], "numbers": numbers, "scores": scores, "empty": empty}
        words["kernel_sd"] = population(scores, sd).kernel_sd
        return Result(
            summary={"study": "plan", **plan},
            primary="required_items",
            tables=[table(__package__, "known", rows), table(__package__, "judges", judges)],
            answer=paragraphs(__package__, "plan.md.j2", part="answer", **words),
            notes=sentences(__package__, "plan.md.j2", part="notes", **words),
        )

    def _numbers(self) -> tuple[Numbers, Floats | None, int]:
        """Settings first, then what the run says; its human scores, None where the sd is given; and
        how many texts have none."""
        settings = {
            name: (Estimate(value), f"study.{name}")
            for name in NAMES
            if (value := getattr(self, name)) is not None
        }
        if self.train_run is None:
            return settings, None, 0
        from judgelab.study.ranking.scored import RankingJudge, read_run  # xarray takes its time

        run = read_run(self.train_run, key="train_run")
        where = f"the run {Path(self.train_run).name}"
        try:
            people = population(run.human)
        except ValueError as cause:
            raise DataError(f"study=plan, {where}: {cause}") from cause
        judge, empty = RankingJudge.of(run), int(np.isnan(run.human).sum())
        of_run = {
            "r": (judge.r, where),
            "sd": (Estimate(people.sd, n=run.human.size - empty, unscored=empty), where),
        }
        more = Estimate(judge.fit.item_correlation, n=judge.fit.systems)
        for name, one in (("system_bias_sd", judge.fit.bias), ("item_correlation", more)):
            if not math.isnan(one.value):
                of_run[name] = one, where
        return of_run | settings, *((people.scores, empty) if self.sd is None else (None, 0))

    def _cost(self, items: float) -> float | None:
        """Of rating so many items; None where the price is not known, or items have no end."""
        if self.price is None or not math.isfinite(items):
            return None
        return items * self.systems * self.price

    def _judge(self, r: float, n: float, items: float) -> Row:
        """What a judge of r, who needs n items, saves against ``items``; how much dearer it may
        be."""
        both = math.isfinite(items) and math.isfinite(n)
        cost, saving = self._cost(n), self._cost(items - n)
        priced = {"cost_at_this_price": cost, "saved_at_this_price": saving}
        return {
            "r": r,
            "items": n,
            "items_saved": items - n,
            "saved": 1 - n / items if both else math.nan,
            "worth_up_to": items / n if both else math.nan,
            **({} if cost is None else priced),
        }
