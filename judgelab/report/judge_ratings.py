"""The ratings of one judge, item by item, from the records of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgelab.report.jobs import SweepJob
from judgelab.report.tables import frame as table_frame
from judgelab.report.tables import records

if TYPE_CHECKING:
    import pandas as pd

    from judgelab.stats.discernment.paired import JudgeRatings
    from judgelab.stats.discernment.score import How

ORIGINAL = "original"


@dataclass(frozen=True)
class RatedTexts:
    """What a judge of study=discernment made of each text.

    Attributes:
        judge, dataset: names.
        ratings: rows (item, text of every variant), columns (variant, metric); NaN: unrated.
        weights: perturbation -> weight of each metric; those that changed no text are not there.
        levels: perturbation -> level.
        how: as D was made of them.
    """

    judge: str
    dataset: str
    ratings: pd.DataFrame
    weights: Mapping[str, Mapping[str, float]]
    levels: Mapping[str, str]
    how: How

    @property
    def means(self) -> pd.DataFrame:
        """[item, variant] averaged over metrics; NaN where one is unrated."""
        means = self.ratings.T.groupby(level=0, sort=False).mean().T
        whole = self.ratings.notna().T.groupby(level=0, sort=False).all().T
        made = means.where(whole).droplevel("texts")
        return made[[ORIGINAL, *self.weights]]

    def of(self, items: pd.Index, names: Sequence[str]) -> JudgeRatings:
        """The ratings of some items and perturbations, NaN where it did not rate those texts."""
        import numpy as np

        from judgelab.stats.discernment.paired import JudgeRatings

        metrics = list(dict.fromkeys(self.ratings.columns.get_level_values(1)))
        rows = self.ratings.reindex(items)
        values = [rows[name][metrics].to_numpy(dtype=float) for name in (ORIGINAL, *names)]
        weights = [[self.weights[name].get(metric, 0.0) for metric in metrics] for name in names]
        return JudgeRatings(np.stack(values), weights, self.how)


def read_ratings(job: SweepJob, judge: str) -> RatedTexts | None:
    """The ratings of a job; None where its records are not there or no text was changed."""
    import pandas as pd

    from judgelab.stats.discernment.score import How

    if job.run is None or job.result is None:
        return None
    folder = job.run / "records"
    kinds = ("clean_measurements", "clean_scores", "clean_texts")
    files = [folder / f"{kind}.parquet" for kind in kinds]
    rows = {t["name"]: records(table_frame(t)) for t in job.result["tables"]}
    if not all(file.is_file() for file in files) or "metrics" not in rows:
        return None
    levels = {
        str(row["perturbation"]): str(row["level"])
        for row in rows["discernment"]
        if row["seen"] != "nothing changed"
    }
    weights: dict[str, dict[str, float]] = {name: {} for name in levels}
    for row in rows["metrics"]:
        if row["perturbation"] in weights:
            weights[row["perturbation"]][row["metric"]] = row["weight"]
    if not weights:
        return None
    measured, scores, texts = (pd.read_parquet(file) for file in files)
    if "rating" in measured:
        long = measured.groupby(["item", "agent", "metric"], sort=False)["rating"].mean()
    else:
        [metric] = next(iter(weights.values()))
        long = scores.assign(metric=metric).set_index(["item", "agent", "metric"])["score"]
    wide = long.unstack(["agent", "metric"])
    said = texts.pivot(index="item", columns="agent", values="text")[[ORIGINAL, *weights]]
    marks = [hash(tuple(row)) for row in said.loc[wide.index].to_numpy()]
    wide.index = pd.MultiIndex.from_arrays([wide.index, marks], names=["item", "texts"])
    keys = ("zero_method", "combine", "method")
    how = How(**{key: job.summary[key] for key in keys if key in job.summary})
    return RatedTexts(judge, str(job.summary.get("dataset") or ""), wide, weights, levels, how)
