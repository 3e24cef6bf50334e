"""What is known of a judge before a ranking is planned: settings, a table, a panel, a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.result import Row, Table
from judgelab.dataset.jsonl import Jsonl
from judgelab.dataset.score_table import ScoreTable, need, numbers, read_table
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.simulation import population
from judgelab.stats.ranking.system_bias import bias_estimate, fit_judge, system_moments

COLUMNS: Mapping[str, str | None] = {
    "path": None,
    "column": "human",
    "metric": None,
    "item": "item",
    "system": "system",
}
"""Settings of ``study.scores`` and what they are unless given."""

PANELS = (".jsonl", ".ndjson")

NAMES = {
    "r": "correlation with people, r",
    "sd": "sd of human scores",
    "system_bias_sd": "bias between systems (sd)",
    "item_correlation": "correlation of two systems on one item",
}


@dataclass(frozen=True)
class KnownJudge:
    """Numbers with where they come from.

    Attributes:
        found: ``r``, ``sd``, ``system_bias_sd``, ``item_correlation`` -> the number (and its
            interval, where it was estimated); absent where nothing says.
        origin: the same names -> where from.
        scores: human scores in place of an sd; None where that was given.
        empty: cells without one.
    """

    found: Mapping[str, Estimate]
    origin: Mapping[str, str]
    scores: Floats | None = None
    empty: int = 0

    def value(self, name: str, otherwise: float | None = None) -> float:
        """A number.

        Raises:
            ConfigError: nothing says it, and it must not be guessed.
            DataError: a correlation that is not above 0, or that the data cannot tell.
        """
        known = self.found.get(name)
        if name == "r" and known is not None and known.value <= 0:
            raise DataError(
                f"study=plan: the judge correlates with people at r = {known.value:.2f} "
                f"({self.origin[name]}): no number of items makes its ranking theirs."
            )
        if known is not None and not math.isnan(known.value):
            return known.value
        if otherwise is not None:
            return otherwise
        if known is not None:
            raise DataError(
                f"study=plan: no {NAMES[name]} in {self.origin[name]}: the scores there do not "
                f"vary, or no text has both. Give study.{name}."
            )
        raise ConfigError(
            f"study=plan does not guess the {NAMES[name]}: give study.{name}, or have it read from "
            "your data by study.train_run=FOLDER (a finished run on texts with human scores) or "
            "study.scores.path=FILE (.csv, .parquet, or a panel as .jsonl"
            f"{', with study.scores.metric=COLUMN' if name == 'r' else ''})."
        )

    def table(self) -> Table:
        """Every number that the plan rests on, and where it comes from."""
        rows: list[Row] = [
            {"quantity": NAMES[name], **one.as_dict(), "from": self.origin[name]}
            for name, one in self.found.items()
        ]
        note = "Intervals of r are over items, those of the bias over systems; n counts the same."
        return Table("known", "What is known of the judge", rows, note)


def known_judge(
    given: Mapping[str, float | None], run: str | None, scores: Mapping[str, str | None]
) -> KnownJudge:
    """Settings first, then what the run or the table says.

    Args:
        given: ``r``, ``sd``, ``system_bias_sd``, ``item_correlation``, None where not given.
        run: folder of a finished run.
        scores: settings as in ``COLUMNS``.

    Raises:
        ConfigError: an unknown setting, or two sources.
        DataError: the source cannot be read, or has no human scores that vary.
    """
    for key in scores:
        if key not in COLUMNS:
            raise ConfigError(f"study.scores.{key}.{did_you_mean(key, COLUMNS)}")
    path = scores.get("path")
    _counted(path, scores)
    if run is not None and path is not None:
        raise ConfigError(
            "study.train_run and study.scores.path both say what people gave: name one."
        )
    read = KnownJudge({}, {})
    if run is not None:
        from judgelab.study.ranking.scored import read_run  # xarray takes its time

        found = read_run(run, key="train_run")
        read = _fitted(found.human, found.metric, f"the run {Path(run).name}")
    elif path is not None:
        read = _of_file(path, {key: scores.get(key) or COLUMNS[key] for key in COLUMNS})
    set_ = {name: value for name, value in given.items() if value is not None}
    keep = "sd" not in set_
    return KnownJudge(
        {**read.found, **{name: Estimate(value) for name, value in set_.items()}},
        {**read.origin, **{name: f"study.{name}" for name in set_}},
        read.scores if keep else None,
        read.empty if keep else 0,
    )


def _counted(path: str | None, scores: Mapping[str, str | None]) -> None:
    """Columns are those of a table: ConfigError where one is named, but no table is read."""
    asked = [key for key, usual in COLUMNS.items() if key != "path" and scores.get(key) != usual]
    named = [key for key in asked if scores.get(key) is not None]
    if named and (path is None or path.lower().endswith(PANELS)):
        raise ConfigError(
            f"study.scores.{named[0]} names a column of a table: give one as study.scores.path "
            "(.csv or .parquet)."
        )


def _of_file(path: str, scores: Mapping[str, str | None]) -> KnownJudge:
    from judgelab.study.common.panels import human_scores  # xarray takes its time

    column, metric = scores["column"] or "", scores["metric"]
    if path.lower().endswith(PANELS):
        panel = Jsonl(path=path).load()
        return _people(human_scores(panel).ravel(), f"the panel {Path(path).name}")
    table = read_table(path, "study.scores.path")
    need(table, [column], path, "study.scores.column")
    where = f"{Path(path).name}, column {column!r}"
    if metric is None:
        return _people(np.array(numbers(table, column, path), dtype=np.float64), where)
    item, system = scores["item"] or "", scores["system"] or ""
    names = {"item": item, "system": system, "metric": metric}
    where = f"{Path(path).name}, columns {column!r} and {metric!r}"
    for key, name in names.items():
        need(table, [name], path, f"study.scores.{key}")
    found = ScoreTable(path=path, item=item, system=system, human=column, metrics=[metric]).load()
    agents = [agent.name for agent in found.agents]
    values = [[i.scores[metric].get(name, np.nan) for name in agents] for i in found.items]
    return _fitted(human_scores(found), np.array(values, dtype=np.float64), where)


def _people(human: Floats, where: str) -> KnownJudge:
    try:
        source = population(human)
    except ValueError as cause:
        raise DataError(f"study=plan, {where}: {cause}") from cause
    sd = Estimate(source.sd, n=int((~np.isnan(human)).sum()), unscored=int(np.isnan(human).sum()))
    return KnownJudge({"sd": sd}, {"sd": where}, source.scores, sd.unscored)


def _fitted(human: Floats, metric: Floats, where: str) -> KnownJudge:
    people = _people(human.ravel(), where)
    moments = system_moments(human, metric)
    fit = fit_judge(moments)
    if math.isnan(fit.r):
        found, origin = {**people.found, "r": Estimate(fit.r)}, {**people.origin, "r": where}
        return KnownJudge(found, origin, people.scores, people.empty)
    found = {"r": clustered_correlation(metric, human, "pearson"), **people.found}
    found["system_bias_sd"] = bias_estimate(moments)
    found["item_correlation"] = Estimate(fit.item_correlation, n=fit.systems)
    found = {name: one for name, one in found.items() if not math.isnan(one.value)}
    return KnownJudge(found, dict.fromkeys(found, where), people.scores, people.empty)


def sources(judge: KnownJudge) -> Iterator[str]:
    """Sentences on where the numbers that were read come from."""
    by: dict[str, list[str]] = {}
    for name, one in judge.found.items():
        if not math.isnan(one.value) and not judge.origin[name].startswith("study."):
            by.setdefault(judge.origin[name], []).append(NAMES[name])
    for where, what in by.items():
        yield f"From {where}: {', '.join(what)}."
