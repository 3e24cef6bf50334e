"""How many items, and how good a judge? Before anything is spent (ranking-confidence paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Correlation, Count, NotNegative, Positive
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.resources import conf
from judgelab.core.result import Result, Value
from judgelab.endpoint.prices import price_of
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.ranking.simulation import Draws
from judgelab.study.ranking.known_judge import NAMES, KnownJudge, known_judge, sources
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
        delta: difference of two systems' mean human scores that is to be ranked right, in the
            unit of the human scores.
        train_run: folder of a finished run on texts that people scored: sd, r, the bias between
            systems and the correlation on one item are read from it, where they are not given.
        scores: the same from a file: ``path`` of a panel (.jsonl: sd alone) or of a table (.csv,
            .parquet) with the ``column`` of human scores and, for r and the rest, ``metric`` (and
            the columns ``item`` and ``system``).
        r: correlation of the judge with people over single texts.
        sd: of the human scores of single texts; content-unit scores in [0, 1] have about .25,
            grades from 1 to 5 about 1.
        item_correlation: of the judge's scores of two systems on one item; None and not read: 0,
            the careful choice (LM judges have about .1 to .4).
        system_bias_sd: sd over systems of the judge's own errors, human units; None and not read:
            0, as the paper has it, and then the confidence is an upper bound.
        confidence: wanted in the right order.
        systems: how many are rated on every item.
        better: correlations of other judges to compare with; None: .1, .2 and .3 above r.
        price: of rating one text; None: from the price list.
        model: a model of the price list, in place of ``price``.
        input_tokens, output_tokens: of rating one text.
        prices: the price list, a path from the working directory or from the project.
        pairs: of systems, in the simulation that checks the closed form.
        evaluations: of each of these pairs.

    Raises:
        ConfigError: two settings exclude each other.
    """

    scores: Mapping[str, str | None] = field(default_factory=dict)
    train_run: str | None = None
    r: Correlation | None = None
    delta: Positive | None = None
    confidence: ConfidenceLevel = 0.95
    sd: Positive | None = None
    item_correlation: Annotated[float, Field(ge=0, lt=1)] | None = None
    system_bias_sd: NotNegative | None = None
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

    def ask(self, context: Context) -> None:
        """See Study: nothing is asked."""

    def run(self, context: Context) -> Result:
        """Compute; the context gives the seed and nothing else.

        Raises:
            ConfigError: a key of ``scores`` is unknown, or a number that must not be guessed
                (delta, sd, r) is neither given nor read.
            DataError: the scores or the price list cannot be read, or the list lacks the model.
        """
        known, bill = self._known(), self._bill()
        r, question = known.value("r"), self._question(known)
        items, ceiling = question.items(r), float(question.sure(r, 1).ceiling)
        above = [r + step for step in STEPS if r + step <= 1]
        better = above if self.better is None else self.better
        rs = list(dict.fromkeys([r, *(round(one, 6) for one in better)]))
        draws = Draws(self.pairs, self.evaluations, context.seed)
        summary: dict[str, Value] = {
            "study": "plan",
            "r": r,
            "delta": question.delta,
            "confidence": question.target,
            "sd": question.sd,
            "system_bias_sd": question.system_bias_sd,
            "item_correlation": question.item_correlation,
            "required_items": items,
            "required_items_without_bias": question.without_bias.items(r),
            "ceiling": ceiling,
            "cost": bill.cost(items),
            "currency": bill.currency or None,
        }
        return Result(
            summary=summary,
            primary="required_items",
            tables=[
                plan_table(question, r, bill, draws),
                known.table(),
                judges_table(question, r, rs, bill),
                sizes_table(question, r, bill),
                curve_table(question, rs, items),
            ],
            figures=["ranking_plan"],
            answer=[self._answer(question, bill, r, items, max(rs))],
            notes=tuple(self._notes(question, known)),
        )

    def _known(self) -> KnownJudge:
        given = {name: getattr(self, name) for name in NAMES}
        return known_judge(given, self.train_run, self.scores)

    def _question(self, known: KnownJudge) -> Question:
        if self.delta is None:
            raise ConfigError(
                "study=plan needs study.delta: the difference of two systems' mean human scores "
                "that is to be ranked right, in the unit of those scores (grades from 1 to 5: .5, "
                "shares from 0 to 1: .05)."
            )
        return Question(
            self.delta,
            self.confidence,
            known.value("sd"),
            known.value("item_correlation", 0.0),
            known.value("system_bias_sd", 0.0),
            known.scores,
            known.empty,
        )

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

    def _answer(
        self, question: Question, bill: Bill, r: float, items: float, best: float
    ) -> tuple[str, str]:
        """How many items, and what they cost; or why no number is enough."""
        wanted = f"a difference of {question.delta:g} right with {question.target:g} confidence"
        if not np.isfinite(items):
            return (
                "No number of items is enough",
                f"No number of items ranks {wanted}: with a bias between systems of sd "
                f"{question.system_bias_sd:.3g} the confidence stays below "
                f"{float(question.sure(r, 1).ceiling):.3f}.",
            )
        said = f"A judge of r = {r:.3g} needs {items:,.0f} items to rank {wanted}."
        costs = self._costs(question, bill, items, (r, best))
        return f"{items:,.0f} items", " ".join([said, *costs])

    def _notes(self, question: Question, known: KnownJudge) -> Iterator[str]:
        yield from sources(known)
        spread = (
            f"an sd of {question.sd:.3g} of human scores"
            if question.scores is None
            else f"the sd of your {len(question.scores):,} human scores ({question.empty:,} cells "
            f"are empty), {question.sd:.3g}"
        )
        yield f"Computed from {spread}; items grow with (sd / (r delta))^2."
        bias = known.found.get("system_bias_sd")
        if bias is None:
            yield (
                "No bias of the judge between systems is assumed, as in the paper: real judges "
                "have one, so take the confidence as an upper bound (study.system_bias_sd)."
            )
        elif bias.value > 0 or bias.high > 0:
            over = f" (95 % interval over {bias.n} systems {bias.low:.2g} to {bias.high:.2g})"
            yield (
                f"With the judge's bias between systems as estimated, {bias.value:.3g}"
                f"{over if bias.n else ''}; by Algorithm 1 alone, without one: "
                f"{question.without_bias.items(known.value('r')):,.0f} items. Which of the two "
                "holds on annotated data is what study=ranking_confidence tests."
            )

    def _costs(
        self, question: Question, bill: Bill, items: float, rs: tuple[float, float]
    ) -> Iterator[str]:
        r, best = rs
        if best > r:
            fewer = question.items(best)
            less = bill.cost(items - fewer)
            saved = "" if less is None else f" (at the same price {bill.said(less)} less)"
            yield (
                f"One of r = {best:.3g} would need {fewer:,.0f}{saved}, so it may cost up to "
                f"{items / fewer:.1f} times as much a text."
            )
        texts, cost = f"{bill.texts(items):,.0f} texts ({bill.systems} systems)", bill.cost(items)
        if cost is not None:
            yield f"Rating {texts} costs about {bill.said(cost)}: {self._each(bill)}."
        else:
            yield f"{texts} are to be rated: study.price or study.model says what it costs."
