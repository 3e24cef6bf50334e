"""How much information could be certified at all, and how appendix F's measures go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.errors import DataError
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.study import Study
from judgelab.mechanism.mi import pointwise_mi
from judgelab.mechanism.tvd_mi import ACCEPT, SourceTest
from judgelab.stats.discrimination.information import ceiling, failure_probability
from judgelab.stats.discrimination.relations import (
    DIVERGENCES,
    SIGNED,
    UNBOUNDED,
    divergence,
    information,
    measure,
    over_items,
)
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.study.common.groups import groups
from judgelab.study.common.panels import ScoredPanel, score_panels
from judgelab.study.common.tables import WITHOUT_P, about, columns, entries

Counts = Mapping[str, Floats]
"""What was decided about what -> [items, 2, 2]: truth down, decision across, positive first."""

SHOWN = ("youden_j", "auc", "tvd", "tvd_from_j", "kappa", "kappa_bound", "kappa_bound_printed")
SAYS = {
    "youden_j": "TPR + TNR - 1",
    "auc": "(1 + J) / 2, of the yes/no decision",
    "tvd": "between the joint and the product of its marginals",
    "tvd_from_j": "2 pi (1 - pi) |J|: equal to the TVD (half of |J| at prevalence 1/2)",
    "kappa": "equal to J at prevalence 1/2",
    "kappa_bound": "TVD / (1 - p_e): |kappa| is never above it",
    "kappa_bound_printed": "2 TVD / (1 - p_e): as printed, loose by a factor 2",
}


@dataclass(frozen=True)
class Ceiling(Study):
    """Theorem 3.3's ceiling beside the estimates, and appendix F on tables of truth by decision.

    No distribution-free lower bound from N samples certifies more information than the ceiling,
    but with probability delta + 1/k. Estimates are of the same information: what the critic's
    grades tell of "same source?" (D_f, at most I_f by data processing), nats of pointwise MI, or
    what decisions tell of the truth. Decisions: a pair accepted or not; which of a good-faith and
    a problematic text wins; whether an agent's score is above the item's median.

    Args:
        k: trades the height of the ceiling against its failure probability.
        delta: 1 - confidence of the lower bounds that the ceiling is of.
        file: a table (.csv, .parquet) of decisions to look at instead; null: the mechanism's.
        truth, decision: its columns, of two values; another decision is unread.
        by: its columns that tell tables apart (judge, ...).
        item: its columns that name an item, whose rows belong together.

    Of the two values the last one in order counts as positive (1 of 0 and 1, yes of no and yes).
    """

    k: Count = 20
    delta: Annotated[float, Field(ge=0, le=1)] = 0.05
    file: str | None = None
    truth: str = "label"
    decision: str = "verdict"
    by: Sequence[str] = ()
    item: Annotated[Sequence[str], Field(min_length=1)] = ("item",)

    def ask(self, context: Context) -> None:
        """See Study."""
        if self.file is None:
            context.no_attack("ceiling")
            context.measure(context.panels()["clean"])

    def run(self, context: Context) -> Result:
        """Count decisions, and hold what they tell against the ceiling."""
        if self.file is not None:
            tables, unread = self._read(Path(self.file).expanduser())
            what = "a truth, one of its two values as decision, or an item"
            note = f"Decisions: {self.file}; {unread} rows without {what} are unread."
            return self._result({"study": "ceiling"}, tables, {}, [note])
        context.no_attack("ceiling")
        part = score_panels(context, {"clean": context.panels()["clean"]}, "corrected")["clean"]
        made = self._result(
            about(context, part.panel, "ceiling"),
            _tables(context, part),
            _estimates(context, part),
            [f"Evaluation LM: {context.evaluation_lm.identity}."],
        )
        return Result(
            summary=made.summary,
            primary=made.primary,
            tables=made.tables,
            notes=made.notes,
            answer=made.answer,
            provenance={"clean": part.origin},
            estimators=estimators(part.scores),
        )

    def _result(
        self,
        summary: Mapping[str, Value],
        tables: Counts,
        found: Mapping[tuple[str, str], Estimate],
        notes: list[str],
    ) -> Result:
        known = dict(found)
        for what, counts in tables.items():
            for name in DIVERGENCES:
                how = partial(information, name=name)
                known[what, name] = over_items(counts, how, most=DIVERGENCES[name].most)
        rows = [self._row(what, name, one) for (what, name), one in known.items()]
        measured = [
            _measured(what, name, counts) for what, counts in tables.items() for name in SHOWN
        ]
        entered: dict[str, Value] = {**summary, "k": self.k, "delta": self.delta}
        for (what, name), one in known.items():
            entered |= entries(f"{what}/{name}", one, *WITHOUT_P)
        failing = failure_probability(self.delta, self.k)
        note = (
            f"With k = {self.k} and delta = {self.delta:g} a lower bound is above the ceiling with "
            f"probability {failing:.3g} at most. N: items, samples of each pair's joint law. An "
            "estimate above its ceiling may be right, but not be certified without assumptions."
        )
        return Result(
            summary=entered,
            primary="/".join(next(iter(known), ("nothing", "tvd"))),
            tables=[
                Table("ceiling", "Information, and what could be certified", rows, note),
                Table("counts", "Truth by decision", _count_rows(tables)),
                Table("relations", "Appendix F on these tables", measured, "Intervals over items."),
            ],
            notes=notes,
            answer=[_answer(rows)],
        )

    def _row(self, what: str, name: str, one: Estimate) -> Row:
        top = ceiling(DIVERGENCES[name].f, self.k, one.n) if one.n >= 2 else math.nan
        remark = "no finite value: an outcome occurs on one side alone"
        return {
            "what": what,
            "f": name,
            **columns(one, "value", *WITHOUT_P),
            "ceiling": top,
            "above": "yes" if one.value > top else "no",
            "remark": remark if math.isinf(one.value) else "",
        }

    def _read(self, path: Path) -> tuple[dict[str, Floats], int]:
        """Counts of the file's decisions, and the rows that hold none."""
        import pandas as pd

        try:
            data = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
        except (OSError, ValueError) as cause:
            raise DataError(f"study.file={path} cannot be read: {cause}") from cause
        missing = [c for c in (self.truth, self.decision, *self.item, *self.by) if c not in data]
        if missing:
            raise DataError(
                f"study.file={path} has no column {missing[0]!r} (it has "
                f"{', '.join(map(str, data.columns))}): set study.truth, decision, item, by."
            )
        data = data.assign(**{c: data[c].map(_plain) for c in (self.truth, self.decision)})
        values = sorted(data[self.truth].dropna().unique())
        if len(values) != 2:
            raise DataError(
                f"study.truth={self.truth} of {path} has {len(values)} values, not two: a table "
                "of truth by decision needs a yes and a no."
            )
        named = data[[*self.item, *self.by]].notna().all(axis=1)
        read = data[named & data[self.decision].isin(values) & data[self.truth].isin(values)]
        if read.empty:
            raise DataError(
                f"study.decision={self.decision} of {path} is {' or '.join(values)} in no row that "
                "names its item: a decision has one of the two values of the truth."
            )
        parts = read.groupby(list(self.by), sort=False) if self.by else [("decisions", read)]
        found = {}
        for name, part in parts:
            what = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
            place = part.groupby(list(self.item), sort=False).ngroup().to_numpy()
            counts = np.zeros((place.max() + 1, 2, 2))
            cells = ((part[c] != values[-1]).to_numpy(int) for c in (self.truth, self.decision))
            np.add.at(counts, (place, *cells), 1)
            found[what] = counts
        return found, len(data) - len(read)


def _plain(value: object) -> str | None:
    """A value as words, so that 1, 1.0 and "1" are one; None for a missing one."""
    import pandas as pd

    if pd.isna(value):  # type: ignore[call-overload]
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _measured(what: str, name: str, counts: Floats) -> Row:
    """One of appendix F's measures, and what it is."""
    least, most = -1.0 if name in SIGNED else 0.0, math.inf if name in UNBOUNDED else 1.0
    one = over_items(counts, partial(measure, name=name), least, most)
    return {"what": what, "measure": name, "says": SAYS[name], **columns(one, "value", *WITHOUT_P)}


def _answer(rows: list[Row]) -> tuple[str, str]:
    """Heading and sentences: whether anything is above its ceiling."""
    above = [row for row in rows if row["above"] == "yes"]
    infinite, high = (
        ", ".join(f"{row['what']} ({row['f']})" for row in above if bool(row["remark"]) is none)
        for none in (True, False)
    )
    said = []
    if high:
        said.append(
            f"Too high to be proved by so many items without assumptions on the data: {high}. "
            "These estimates may be right; more items, or assumptions, are needed to show it."
        )
    if infinite:
        said.append(
            f"No figure can be given from these items for {infinite}: an outcome occurs on one "
            "side alone, which makes the estimate infinite. This does not show much information."
        )
    if said:
        return "Higher than can be proved", " ".join(said)
    return (
        "Nothing is higher than could be proved",
        "No estimate is higher than so many items could prove without assumptions.",
    )


def _count_rows(tables: Counts) -> list[Row]:
    names = ("true_positive", "false_negative", "false_positive", "true_negative")
    return [
        {"what": what} | dict(zip(names, (int(c) for c in counts.sum(axis=0).ravel()), strict=True))
        for what, counts in tables.items()
    ]


def _tables(context: Context, part: ScoredPanel) -> dict[str, Floats]:
    """The decisions of a mechanism about what is known."""
    found, group = dict[str, Floats](), groups(part.panel, "corrected")
    if isinstance(context.mechanism, SourceTest) and "p_minus_q" not in part.measured:
        p, q = (test.values for test in context.mechanism.tests(part.measured))
        found["same source"] = np.stack([_decided(p >= ACCEPT, p), _decided(q >= ACCEPT, q)], 1)
    if not group.known:
        return found
    if "verdict" in part.measured:
        verdict = part.measured["verdict"].values
        sides = verdict[:, group.good][:, :, group.bad], verdict[:, group.bad][:, :, group.good]
        rows = [_decided(v == 1, np.where(v == 0.5, np.nan, v)) for v in sides]
        found["better text is shown first"] = np.stack(rows, 1)
    values = part.values
    with np.errstate(invalid="ignore"):
        tested = values[:, group.good | group.bad]
        middle = np.array([np.median(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan
                           for row in tested])  # fmt: skip
        above = values > middle[:, None]
    rows = [_decided(above[:, side], values[:, side]) for side in (group.good, group.bad)]
    found["good agent is above the median"] = np.stack(rows, 1)
    return found


def _decided(yes: NDArray[np.bool_], values: Floats) -> Floats:
    """[items, 2] how often yes and how often no, of what is not NaN."""
    known, axes = ~np.isnan(values), tuple(range(1, values.ndim))
    return np.stack([(yes & known).sum(axis=axes), (~yes & known).sum(axis=axes)], 1).astype(float)


def _estimates(context: Context, part: ScoredPanel) -> dict[tuple[str, str], Estimate]:
    """What the mechanism itself estimates, (of what, by which f)."""
    data, found = part.measured, dict[tuple[str, str], Estimate]()
    items = len(part.panel.items)
    if "p_minus_q" in data:
        found["critic's grades", "tvd"] = item_mean(
            row_means(data["p_minus_q"].values.reshape(items, -1))
        )
    elif isinstance(context.mechanism, SourceTest):
        p, q = (test.values for test in context.mechanism.tests(data))
        grades = np.unique(np.concatenate([p[~np.isnan(p)], q[~np.isnan(q)]]))
        sides = [
            np.stack([(v == g).reshape(items, -1).sum(axis=1) for g in grades], axis=1)
            for v in (p, q)
        ]
        counts = np.stack(sides, axis=1).astype(np.float64)
        for name in DIVERGENCES:
            how = partial(divergence, name=name)
            found["critic's grades", name] = over_items(counts, how, most=DIVERGENCES[name].most)
    elif {"conditional", "marginal", "tokens"} <= set(data):
        gain = pointwise_mi(data, "sum").values.reshape(items, -1)
        found["pointwise MI of texts", "kl"] = item_mean(row_means(gain))
    return found
