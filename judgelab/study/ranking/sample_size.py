"""How many items, and how good a judge? Before anything is spent (ranking-confidence paper)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Correlation, Count, NotNegative, Positive
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf
from judgelab.core.result import Result, Value
from judgelab.dataset.score_table import need, numbers, read_table
from judgelab.endpoint.meter import price_of
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.ranking.simulation import Draws, population
from judgelab.study.ranking.sample_size_tables import (
    Bill,
    Question,
    curve_table,
    judges_table,
    plan_table,
    sizes_table,
)

STEPS = (0.1, 0.2, 0.3)  # better judges, without study.better


@dataclass(frozen=True, kw_only=True)
class SampleSize(Study):
    """The items a ranking needs, what a better judge would save, and what it costs.

    Nothing is measured: no dataset is loaded and no LM is asked. The systems answer the same
    items; a judge that correlates r with people rates every text once.

    Args:
        r: correlation of the judge with people over single texts.
        delta: difference of two systems' mean human scores that is to be ranked right.
        confidence: wanted in the right order.
        sd: of the human scores of single texts; content-unit scores in [0, 1] have about .25.
        scores: ``path`` (.csv or .parquet) and ``column`` of human scores that replace ``sd``.
        item_correlation: of the judge's scores of two systems on one item; 0 is the careful
            choice, LM judges have about .1 to .4.
        system_bias_sd: sd over systems of the judge's own errors, human units; 0: none, as the
            paper has it, and then the confidence is an upper bound.
        systems: how many are rated on every item.
        better: correlations of other judges to compare with; None: .1, .2 and .3 above r.
        price: of rating one text; None: from the price list.
        model: a model of the price list, in place of ``price``.
        input_tokens, output_tokens: of rating one text.
        prices: the price list, a path from the working directory or from the project.
        pairs: of systems, in the simulation that checks the closed form.
        evaluations: of each of these pairs.

    Raises:
        ConfigError: two settings exclude each other, or a key of ``scores`` is unknown.
    """

    scores: Mapping[str, str | None]
    r: Correlation = 0.3
    delta: Positive = 0.05
    confidence: ConfidenceLevel = 0.95
    sd: Positive = 0.25
    item_correlation: Annotated[float, Field(ge=0, lt=1)] = 0.0
    system_bias_sd: NotNegative = 0.0
    systems: Annotated[int, Field(ge=2)] = 2
    better: Sequence[Correlation] | None = None
    price: NotNegative | None = None
    model: str | None = None
    input_tokens: Count = 1000
    output_tokens: Count = 10
    prices: str = "conf/prices.yaml"
    pairs: Annotated[int, Field(ge=2)] = 100
    evaluations: Count = 200

    def __post_init__(self) -> None:
        if self.price is not None and self.model is not None:
            raise ConfigError("study.price is what one rated text costs; it excludes study.model.")
        for key in self.scores:
            if key not in ("path", "column"):
                raise ConfigError(f"study.scores.{key}.{did_you_mean(key, ('path', 'column'))}")

    def ask(self, context: Context) -> None:
        """See Study: nothing is asked."""

    def run(self, context: Context) -> Result:
        """Compute; the context gives the seed and nothing else.

        Raises:
            DataError: the scores or the price list cannot be read, or the list lacks the model.
        """
        question, bill = self._question(), self._bill()
        items, ceiling = question.items(self.r), float(question.sure(self.r, 1).ceiling)
        above = [self.r + step for step in STEPS if self.r + step <= 1]
        better = above if self.better is None else self.better
        rs = list(dict.fromkeys([self.r, *(round(one, 6) for one in better)]))
        draws = Draws(self.pairs, self.evaluations, context.seed)
        summary: dict[str, Value] = {
            "study": "plan",
            "r": self.r,
            "delta": question.delta,
            "confidence": question.target,
            "sd": question.sd,
            "required_items": items,
            "ceiling": ceiling,
            "cost": bill.cost(items),
            "currency": bill.currency or None,
        }
        return Result(
            summary=summary,
            primary="required_items",
            tables=[
                plan_table(question, self.r, bill, draws),
                judges_table(question, self.r, rs, bill),
                sizes_table(question, self.r, bill),
                curve_table(question, rs, items),
            ],
            figures=["ranking_plan"],
            notes=tuple(self._notes(question, bill, items, ceiling, max(rs))),
        )

    def _question(self) -> Question:
        asked = Question(
            self.delta, self.confidence, self.sd, self.item_correlation, self.system_bias_sd
        )
        path, column = self.scores.get("path"), self.scores.get("column") or "human"
        if path is None:
            return asked
        table = read_table(path, "study.scores.path")
        need(table, [column], path, "study.scores.column")
        human = numbers(table, column, path)
        try:
            source = population(human)
        except ValueError as cause:
            raise DataError(f"study.scores.path={path!r}, column {column!r}: {cause}") from cause
        empty = sum(map(math.isnan, human))
        return replace(asked, sd=source.sd, scores=source.scores, empty=empty)

    def _bill(self) -> Bill:
        if self.model is None:
            return Bill(self.systems, self.price)
        here = Path(self.prices).expanduser()
        listed = price_of(self.model, str(here if here.is_file() else conf().parent / self.prices))
        if listed is None:
            raise DataError(
                f"The price list {self.prices} has no price of {self.model!r}: give study.price "
                "(of one rated text) or a list of your own (study.prices)."
            )
        each = listed.cost(self.input_tokens, self.output_tokens)
        return Bill(self.systems, each, listed.currency)

    def _each(self, bill: Bill) -> str:
        """Where the price of a text comes from."""
        if self.model is None:
            return f"{bill.each:g} a text, as given"
        return (
            f"{bill.each:.3g} {bill.currency} a text of {self.input_tokens:,} + "
            f"{self.output_tokens:,} tokens by {self.model} (study.input_tokens, output_tokens, "
            "prices)"
        )

    def _notes(
        self, question: Question, bill: Bill, items: float, ceiling: float, best: float
    ) -> Iterator[str]:
        wanted = f"a difference of {question.delta:g} right with {question.target:g} confidence"
        if np.isfinite(items):
            yield f"A judge of r = {self.r:g} needs {items:,.0f} items to rank {wanted}."
            yield from self._costs(question, bill, items, best)
        else:
            yield (
                f"No number of items ranks {wanted}: with a bias between systems of sd "
                f"{question.system_bias_sd:g} the confidence stays below {ceiling:.3f}."
            )
        spread = (
            f"an sd of {question.sd:.3g} of human scores"
            if question.scores is None
            else f"the sd of your {len(question.scores):,} human scores ({question.empty:,} cells "
            f"are empty), {question.sd:.3g}"
        )
        yield f"Computed from {spread}; items grow with (sd / (r delta))^2."
        if question.system_bias_sd == 0:
            yield (
                "No bias of the judge between systems is assumed, as in the paper: real judges "
                "have one, so take the confidence as an upper bound (study.system_bias_sd)."
            )

    def _costs(self, question: Question, bill: Bill, items: float, best: float) -> Iterator[str]:
        if best > self.r:
            fewer = question.items(best)
            less = bill.cost(items - fewer)
            saved = "" if less is None else f" (at the same price {bill.said(less)} less)"
            yield (
                f"One of r = {best:g} would need {fewer:,.0f}{saved}, so it may cost up to "
                f"{items / fewer:.1f} times as much a text."
            )
        texts, cost = f"{bill.texts(items):,.0f} texts ({bill.systems} systems)", bill.cost(items)
        if cost is not None:
            yield f"Rating {texts} costs about {bill.said(cost)}: {self._each(bill)}."
        else:
            yield f"{texts} are to be rated: study.price or study.model says what it costs."
