"""Scores of systems on items: measured in this run, or read from a finished one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.estimator import Estimator, read_estimators
from judgelab.core.panel import Panel
from judgelab.core.result import Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.stats.intervals.arrays import Floats
from judgelab.store.run_dir import RunDir
from judgelab.study.common.panels import SCORES, ScoredPanel, human_scores, score_panels

COLUMNS = ("item", "agent", "reference", "score", "human")


@dataclass(frozen=True)
class Scored:
    """What there is to rank.

    Attributes:
        systems: names, in order.
        metric: [items, systems], NaN where unscored.
        human: [items, systems], NaN without a human score.
        about: what made the scores, for the summary: mechanism, dataset, ...
        notes: sentences on where they come from.
        provenance: of the panel and the measurements.
        estimators: what the scores are estimates by.
    """

    systems: tuple[str, ...]
    metric: Floats
    human: Floats
    about: Mapping[str, Value]
    notes: tuple[str, ...]
    provenance: Mapping[str, object]
    estimators: tuple[Estimator, ...] = ()

    @property
    def annotated(self) -> bool:
        """Whether people scored texts that the metric scored too."""
        return bool((~np.isnan(self.human) & ~np.isnan(self.metric)).any())

    @property
    def known(self) -> int:
        """Systems that have a score."""
        return int((~np.isnan(self.metric)).any(axis=0).sum())

    def refuse_one(self) -> None:
        """Raises DataError: a ranking is of two systems at least."""
        if self.known < 2:
            raise DataError(
                f"A ranking needs scores of two systems at least, but {self.known} of "
                f"{len(self.systems)} have any: see the records of the run."
            )


def ask(context: Context) -> None:
    """Ask the LM what ``measure`` would ask."""
    context.measure(_clean(context))


def measure(context: Context, name: str = "clean") -> Scored:
    """Measure the context's panel and keep the records under ``name``, as every study does.

    Raises:
        ConfigError: there is an attack: systems are ranked by the texts that they wrote.
    """
    panels = {name: _clean(context)}
    return _of_panel(context, score_panels(context, panels, "corrected")[name])


def _clean(context: Context) -> Panel:
    context.no_attack("ranking_confidence")
    return context.panels()["clean"]


def _of_panel(context: Context, clean: ScoredPanel) -> Scored:
    kept, origin = clean.candidates, clean.panel.provenance
    named = str(clean.measured.attrs.get("metric") or context.mechanism.name)
    about: dict[str, Value] = {
        "mechanism": context.mechanism.name,
        "metric": named,
        "dataset": str(origin.get("dataset", "")),
    }
    said = [f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'})."]
    if origin.get("synthetic"):
        said.append(f"Synthetic: {origin['synthetic']}. The figures show what a study looks like.")
    if any(context.mechanism.requires):
        about["evaluation_lm"] = context.evaluation_lm.identity
        said.append(f"Evaluation LM: {context.evaluation_lm.identity}.")
    return Scored(
        tuple(clean.panel.agents[k].name for k in kept),
        clean.values[:, kept],
        np.ascontiguousarray(human_scores(clean.panel)[:, kept]),  # sums run in this order
        about,
        tuple(said),
        {"clean": clean.origin},
        estimators(clean.scores),
    )


def read_run(folder: str, limit: int | None = None, *, key: str = "run") -> Scored:
    """The clean scores of a finished run of judgelab; its first ``limit`` items, None for all.

    Args:
        key: of the study, which named the folder.

    Raises:
        DataError: the folder is no finished run, or holds no scores of single texts.
    """
    run = RunDir(Path(folder).expanduser())
    file = run.path / SCORES
    if not run.done:
        raise DataError(
            f"study.{key}={folder!r} is no finished run: give a folder with DONE in it."
        )
    if not file.is_file():
        raise DataError(
            f"study.{key}={folder!r} has no {SCORES}: its study scores no single texts."
        )
    try:
        table, result = pd.read_parquet(file), run.read_json("result.json")
        summary = result["summary"]
    except (OSError, ValueError, JudgelabError, KeyError) as cause:
        raise DataError(f"study.{key}={folder!r} cannot be read: {cause}.") from cause
    if not set(COLUMNS) <= set(table.columns):
        raise DataError(f"{file} lacks one of the columns {', '.join(COLUMNS)}.")
    table = table[~table["reference"].astype(bool)]
    systems = tuple(dict.fromkeys(table["agent"]))
    items = list(dict.fromkeys(table["item"]))[:limit]
    try:
        metric, human = (
            table.pivot(index="item", columns="agent", values=name)
            .reindex(index=items, columns=list(systems))
            .to_numpy(dtype=np.float64)
            for name in ("score", "human")
        )
    except (ValueError, TypeError) as cause:
        raise DataError(f"{file} is no table of scores, one for each text: {cause}.") from cause
    keys = ("mechanism", "metric", "dataset", "evaluation_lm", "preprocessor")
    about = {key: summary[key] for key in keys if key in summary}
    made = f"{summary.get('mechanism', 'unnamed')} on {summary.get('dataset', 'unnamed data')}"
    said = (f"Scores are those of a finished run ({made}): {run.path.name}.",)
    provenance = {"run": run.path.name, "summary": summary}
    by = tuple(read_estimators(result))
    return Scored(systems, metric, human, about, said, provenance, by)
