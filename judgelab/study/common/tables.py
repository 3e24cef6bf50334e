"""Tables and summary entries made of estimates: the one place where an estimate becomes columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Value
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind

PARTS = ("low", "high", "p", "n", "unscored")
"""What stands beside the value of an estimate in a summary."""

WITHOUT_P = ("low", "high", "n", "unscored")  # the same of an estimate that was not tested


def kind_of(definition: Definition) -> Kind:
    """Intervals that hold, or under a paper's definition those of the papers."""
    return "items" if definition == "corrected" else "percentile"


def columns(estimate: Estimate, *parts: str) -> dict[str, Value]:
    """``value``, ``low``, ``high``, ``n``, ``unscored``, ``p`` (``clusters``); or these parts."""
    fields = estimate.as_dict()
    return {part: fields[part] for part in parts or fields}


def named_columns(name: str, estimate: Estimate) -> dict[str, Value]:
    """``name``, ``name_low`` and ``name_high``."""
    return entries(name, estimate, "low", "high")


def entries(name: str, estimate: Estimate, *parts: str) -> dict[str, Value]:
    """``name``, ``name_low``, ``name_high``, ... of a summary; the other parts as named."""
    beside = {f"{name}_{part}": getattr(estimate, part) for part in parts or PARTS}
    return {name: estimate.value} | beside


def all_entries(prefix: str, estimates: Mapping[str, Estimate], *parts: str) -> dict[str, Value]:
    """The entries of each, under the prefix and its name."""
    each = (entries(prefix + name, one, *parts) for name, one in estimates.items())
    return {key: value for own in each for key, value in own.items()}


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
