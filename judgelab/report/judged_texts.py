"""What lies on disk of a run about single texts or pairs: what judges and people said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import Kind
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Names = NDArray[np.object_]
PER_ROW = ("item", "first", "second", "group", "values", "asked", "labels", "attacked")


@dataclass(frozen=True)
class JudgedTexts:
    """Rows of a page of items: a text each, or a pair of texts.

    Attributes:
        kind: of what is said of a row, as in ``JudgmentTable``.
        judges, raters: their names.
        item, first, second: [rows] the item, whose text, and of a pair whose other text (else "").
        group: [rows] the agent's category, or "reference"; "" without one.
        values: [rows, judges, orders] what judges said; NaN where they did not.
        asked: [rows, judges, orders] whether they were to.
        labels: [rows, raters] what people said.
        attacked: [rows] score of the attacked text; NaN without one.
        levels: names of categories; their places are the values.
    """

    kind: Kind
    judges: Sequence[str]
    raters: Sequence[str]
    item: Names
    first: Names
    second: Names
    group: Names
    values: Floats
    asked: NDArray[np.bool_]
    labels: Floats
    attacked: Floats
    levels: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.item)

    def at(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> JudgedTexts:
        """These rows alone, in this order."""
        parts = {name: getattr(self, name)[chosen] for name in PER_ROW}
        return replace(self, **parts)

    @property
    def said(self) -> Floats:
        """[rows, judges] mean over orders; NaN where one that was asked for is missing."""
        known = ~np.isnan(self.values)
        mean = _mean(self.values, known)
        return np.where((self.asked & ~known).any(axis=2), np.nan, mean)

    @property
    def people(self) -> Floats:
        """[rows] mean of raters; of categories the most frequent, NaN where two are."""
        known = ~np.isnan(self.labels)
        if self.kind != "category":
            return _mean(self.labels, known)
        levels = range(len(self.levels))
        counts = np.stack([(self.labels == k).sum(axis=1) for k in levels], axis=1)
        top = counts.max(axis=1, initial=0)
        single = (top > 0) & ((counts == top[:, None]).sum(axis=1) == 1)
        return np.where(single, counts.argmax(axis=1), np.nan)

    @property
    def unscored(self) -> NDArray[np.bool_]:
        """[rows] whether some judge was asked and gave nothing."""
        return np.asarray((self.asked & np.isnan(self.values)).any(axis=(1, 2)), np.bool_)


def judged_texts(run_dir: RunDir, mechanism: str) -> JudgedTexts | None:
    """The rows of a run; None where its records hold no texts.

    Args:
        mechanism: what scores are called that no judge gave.
    """
    texts = table(run_dir, "clean_texts")
    if texts is None or not texts["text"].notna().any():
        return None
    judged = table(run_dir, "judgments")
    if judged is not None:
        return _of_judgments(judged)
    scores, labels = table(run_dir, "clean_scores"), table(run_dir, "clean_labels")
    found = texts[texts["text"].notna()].rename(columns={"agent": "first"})
    if scores is not None:
        found = _joined(found, scores)
    attacked = table(run_dir, "attacked_scores")
    found["attacked"] = np.nan if attacked is None else _joined(found, attacked, "attacked_score")
    return _of_scores(found, labels, mechanism if scores is not None else None)


def table(run_dir: RunDir, name: str) -> DataFrame | None:
    """A record of a run; None where there is none."""
    import pandas as pd

    file = run_dir.path / "records" / f"{name}.parquet"
    return pd.read_parquet(file) if file.is_file() else None


def _joined(found: DataFrame, scores: DataFrame, column: str = "") -> Any:
    """Scores beside texts; or one column of them alone."""
    own = scores.rename(columns={"agent": "first"})
    if column:
        own = own.rename(columns={"score": column})[["item", "first", column]]
        return found.merge(own, on=["item", "first"], how="left")[column].to_numpy(float)
    return found.merge(own, on=["item", "first"], how="left")


def _of_scores(found: DataFrame, labels: DataFrame | None, judge: str | None) -> JudgedTexts:
    """Texts that one mechanism scored, or none."""
    n = len(found)
    raters: list[str] = []
    said = np.empty((n, 0))
    if labels is not None and len(labels):
        raters = list(dict.fromkeys(labels["rater"].astype(str)))
        wide = labels.pivot_table(index=["item", "agent"], columns="rater", values="value")
        keys = list(zip(found["item"], found["first"], strict=True))
        said = wide.reindex(index=keys, columns=raters).to_numpy(float)
    group = np.full(n, "", dtype=object)
    if judge is not None:
        marked = found["category"].fillna("").astype(object).where(~_true(found), "reference")
        group = marked.to_numpy(object)
    scores = found["score"].to_numpy(float).reshape(n, -1) if judge is not None else said[:, :0]
    return JudgedTexts(
        "grade",
        [] if judge is None else [judge],
        raters,
        found["item"].to_numpy(object),
        found["first"].to_numpy(object),
        np.full(n, "", dtype=object),
        group,
        scores[:, :, None],
        np.ones((*scores.shape, 1), np.bool_),
        said,
        found["attacked"].to_numpy(float),
    )


def _true(found: DataFrame) -> Any:
    return found["reference"].fillna(False).astype(bool)


def _of_judgments(long: DataFrame) -> JudgedTexts:
    """What raters and judges said; controls are no judges."""
    long = long[long["role"] != "control"]
    units = long[["item", "first", "second"]].drop_duplicates()
    place = units.assign(row=np.arange(len(units)))
    long = long.merge(place, on=["item", "first", "second"], how="left")
    named = {role: long[long["role"] == role] for role in ("rater", "judge")}
    raters, judges = (list(dict.fromkeys(part["by"].astype(str))) for part in named.values())
    orders = int(long["order"].max()) + 1 if len(long) else 1
    labels = np.full((len(units), len(raters)), np.nan)
    values = np.full((len(units), len(judges), orders), np.nan)
    asked = np.zeros(values.shape, np.bool_)
    part = named["rater"]
    labels[part["row"], _places(part, raters)] = part["value"]
    part = named["judge"]
    cells = part["row"], _places(part, judges), part["order"]
    values[cells], asked[cells] = part["value"], True
    kind: Kind = "preference" if (units["second"] != "").any() else "grade"
    levels: list[str] = []
    if "category" in long:
        kind, known = "category", long.dropna(subset="category")
        names = dict(zip(known["value"].astype(int), known["category"], strict=True))
        levels = [names.get(k, str(k)) for k in range(max(names, default=-1) + 1)]
    n = len(units)
    item, first, second = (units[name].to_numpy(object) for name in ("item", "first", "second"))
    none, empty = np.full(n, np.nan), np.full(n, "", dtype=object)
    return JudgedTexts(
        kind, judges, raters, item, first, second, empty, values, asked, labels, none, levels
    )


def _places(part: DataFrame, names: Sequence[str]) -> NDArray[np.intp]:
    place = {name: k for k, name in enumerate(names)}
    return np.array([place[str(name)] for name in part["by"]], np.intp)


def _mean(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Over the last dimension; NaN where nothing is known."""
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), np.float64)
