"""Tables and summary entries made of estimates: the one place where an estimate becomes columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Value, read_estimate
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, bootstrap_mean, item_mean

INTERVALS: Mapping[Kind, str] = {
    "items": "95 % intervals over items (docs/definitions.md: how often they hold)",
    "percentile": "95 % percentile intervals by resampling items, too narrow below 30 items",
}
"""What a table says of its intervals."""

PARTS = ("low", "high", "p", "n", "unscored")
"""What stands beside the value of an estimate in a summary."""

WITHOUT_P = ("low", "high", "n", "unscored")
"""The same of an estimate that was not tested."""


def kind_of(definition: Definition) -> Kind:
    """Intervals that hold, or under a paper's definition those of the papers."""
    return "items" if definition == "corrected" else "percentile"


def mean_over_items(values: ArrayLike, definition: Definition, draws: int, seed: int) -> Estimate:
    """Mean of scores [items] with the interval of the definition."""
    if kind_of(definition) == "percentile":
        return bootstrap_mean(values, draws, seed)
    return item_mean(values)


def columns(estimate: Estimate, *parts: str) -> dict[str, Value]:
    """``value``, ``low``, ``high``, ``n``, ``unscored``, ``p`` (``clusters``); or these parts."""
    found: dict[str, Value] = {**estimate.as_dict()}
    return {part: found[part] for part in parts} if parts else found


def named_columns(name: str, estimate: Estimate) -> dict[str, Value]:
    """``name``, ``name_low`` and ``name_high``."""
    return entries(name, estimate, "low", "high")


def entries(name: str, estimate: Estimate, *parts: str) -> dict[str, Value]:
    """``name``, ``name_low``, ``name_high``, ... of a summary; the other parts as named."""
    beside = {f"{name}_{part}": getattr(estimate, part) for part in parts or PARTS}
    return {name: estimate.value} | beside


def read_back(summary: Mapping[str, Any], name: str) -> Estimate:
    """Value, interval and n of ``entries``; NaN for what the summary lacks."""
    value, low, high, n = (read_estimate(summary, name)[k] for k in ("value", "low", "high", "n"))
    middle, least, most = (math.nan if x is None else float(x) for x in (value, low, high))
    return Estimate(middle, least, most, int(n or 0))


def estimate_rows(cells: Iterable[tuple[Row, Estimate]], unscored: str = "unscored") -> list[Row]:
    """What each is of, then its columns; ``unscored`` renames that column, if ``n`` is another."""
    rows = [{**head, **columns(one)} for head, one in cells]
    return [{unscored if k == "unscored" else k: v for k, v in row.items()} for row in rows]


def about(context: Context, panel: Panel, study: str, **settings: Value) -> dict[str, Value]:
    """How every summary begins: study, its settings, mechanism, evaluation LM and dataset."""
    return {
        "study": study,
        **settings,
        "mechanism": context.mechanism.name,
        "evaluation_lm": context.evaluation_lm.identity,
        "dataset": str(panel.provenance.get("dataset", "")),
    }


def read_by(context: Context) -> str:
    """The preprocessor of the texts that the mechanism reads; ``none`` where it reads them raw."""
    return context.preprocessor.name if context.mechanism.reads == "preprocessed" else "none"
