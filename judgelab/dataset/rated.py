"""Texts that people graded (RoSE, SummEval): our sample, the Hub, or tables of the user's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Panel
from judgelab.dataset.files import (
    MISSING,
    Row,
    cell_text,
    need,
    number,
    of_frame,
    read_frame,
    read_rows,
)
from judgelab.dataset.provenance import SAMPLES, SourcedDataset, check_keys, find_rows
from judgelab.dataset.table import LabelledTable

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("id", "agent", "text", "source", "reference")
FIELDS = ("id", "source", "reference", "texts", "scores")
JUDGES = ("evaluator", "prompt", "dimension", "score")
SYNTHETIC = (
    "excerpts of articles written for this project; human scores and judges are made by a formula"
)
"""What a result must say of a sample: no person scored its texts. A score is a quality for each
way of excerpting plus noise; the judges add noise, one of them errors of its own per system."""


@dataclass(frozen=True, kw_only=True)
class RatedSummaries(SourcedDataset):
    """Articles, summaries by several systems, and what people and metrics gave them.

    Args:
        name: names the sample file.
        task_description: one line for prompts.
        human: which score is the human one.
        metrics: columns that are metrics, for ``mechanism=recorded_scores``; null: every other
            column of numbers.
        columns: what ``path`` and the table of texts call id, agent, text, source and reference.
        texts: ``path`` of a table of articles and references; null: summaries alone.
        judges: ``path`` of a long table of scores by LM judges (id, agent, evaluator, prompt,
            dimension, score); each evaluator/prompt becomes a metric of the dimension ``human``.
        hub: as for other datasets.
        fields: where a row of the Hub holds id, source, reference, the texts (by system, or a
            list) and their scores (by system; null: lists under the names of the scores).
        path: one row for each summary.
    """

    name: str
    task_description: str
    human: str
    metrics: Sequence[str] | None = None
    columns: Mapping[str, str]
    texts: Mapping[str, Any]
    judges: Mapping[str, Any]
    hub: Mapping[str, Any]
    fields: Mapping[str, str | None]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self.texts, ("path",), "dataset.texts")
        check_keys(self.judges, ("path",), "dataset.judges")
        check_keys(self.columns, COLUMNS, "dataset.columns")
        check_keys(self.fields, FIELDS, "dataset.fields")

    def _panel(self, limit: int | None) -> Panel:
        facts: dict[str, object] = {"dataset": self.name, "source": self.source}
        facts["human"] = self.human
        if self.source == "sample":
            frame, where = self._of_sample(), "the sample"
            facts["synthetic"] = SYNTHETIC
        elif self.source == "hub":
            files = find_rows(self.name, "hub", None, self.hub)
            frame, where = self._of_hub(read_rows(files.files, limit)), files.where
            facts |= files.facts
        else:
            frame, where = self._of_files(str(self.path)), repr(self.path)
            for key, path in (("scores", self.path), *self._beside().items()):
                if path is not None:
                    content = Path(path).expanduser().read_bytes()
                    facts[key] = {"file": path, "sha256": hashlib.sha256(content).hexdigest()}
        scored = frame.drop(columns=[*COLUMNS, "human"], errors="ignore")
        metrics = [name for name in scored if any(cell_text(cell) for cell in scored[name])]
        table = LabelledTable(
            kind="grade",
            columns={name: name if name in frame else False for name in (*COLUMNS, "human")},
            judges=metrics,
            task_description=self.task_description,
        )
        return table.panel(of_frame(frame), where, facts, limit)

    def _beside(self) -> dict[str, str | None]:
        return {"texts": self.texts.get("path"), "judges": self.judges.get("path")}

    def _of_sample(self) -> DataFrame:
        import pandas as pd

        rows = pd.read_parquet(SAMPLES / f"{self.name}.parquet")
        known = list(rows["dimension"].unique())
        if self.human not in known:
            hint = did_you_mean(self.human, known)
            raise ConfigError(f"dataset.human={self.human!r} is not in the sample.{hint}")
        return rows[rows["dimension"] == self.human].drop(columns="dimension")

    def _of_hub(self, rows: Sequence[Row]) -> DataFrame:
        """A row for each text: by system, or numbered where systems have no names."""
        import pandas as pd

        return pd.DataFrame([one for row in rows for one in self._of_article(row)])

    def _of_article(self, row: Row) -> list[dict[str, Any]]:
        field = dict(self.fields)
        where = f"{self.hub['id']}, article {row.get(str(field['id']))!r}"
        texts = row.get(str(field["texts"]))
        if field["scores"] is None:
            scores = row.get(self.human)
            if not (isinstance(texts, list) and isinstance(scores, list)) or (
                len(texts) != len(scores)
            ):
                raise DataError(f"{where}: {field['texts']} and {self.human} must be equal lists.")
            names = [f"system_{k:02d}" for k in range(1, len(texts) + 1)]
            texts = dict(zip(names, texts, strict=True))
            scores = {name: {self.human: one} for name, one in zip(names, scores, strict=True)}
        else:
            scores = row.get(str(field["scores"]))
        if not isinstance(texts, Mapping) or not isinstance(scores, Mapping):
            raise DataError(f"{where}: {field['texts']} and {field['scores']} are not by system.")
        reference = row.get(str(field["reference"]))
        article = {
            "id": row[str(field["id"])],
            "source": row[str(field["source"])],
            "reference": reference[0] if isinstance(reference, list) and reference else reference,
        }
        made = []
        for system, given in scores.items():
            if self.human not in given:
                hint = did_you_mean(self.human, [str(key) for key in given])
                raise DataError(f"{where}: no annotation {self.human!r} (dataset.human).{hint}")
            numbers = {k: v for k, v in given.items() if isinstance(v, int | float)}
            chosen = numbers.keys() - {self.human} if self.metrics is None else self.metrics
            metrics = {name: numbers.get(name) for name in given if name in chosen}
            text = {"agent": system, "text": texts.get(system), "human": given[self.human]}
            made.append({**article, **text, **metrics})
        return made

    def _of_files(self, path: str) -> DataFrame:
        """Summaries with their scores, beside them articles and judges of other tables."""
        id_, agent, text = (self.columns[name] for name in ("id", "agent", "text"))
        rows = read_frame(path)
        need(rows, (id_, agent), path, "dataset.columns")
        need(rows, (self.human,), path, "dataset.human")
        metrics = self.metrics
        if metrics is None:
            texts = (*self.columns.values(), self.human, "count_id")  # a number of the item
            metrics = [str(name) for name in rows if name not in texts and _numeric(rows[name])]
        need(rows, metrics, path, "dataset.metrics")
        kept = {id_: "id", agent: "agent", text: "text", self.human: "human"}
        rows = _named(rows[[name for name in (*kept, *metrics) if name in rows]], kept)
        beside = self._beside()
        if beside["texts"] is not None:
            articles = read_frame(beside["texts"], "dataset.texts.path")
            names = {self.columns[key]: key for key in ("id", "source", "reference")}
            need(articles, names, beside["texts"], "dataset.texts.path")
            articles = _named(articles[list(names)], names).drop_duplicates("id")
            rows = rows.merge(articles, on="id", how="left")
        if beside["judges"] is not None:
            rows = rows.merge(self._judged(beside["judges"]), on=["id", "agent"], how="left")
        return rows

    def _judged(self, path: str) -> DataFrame:
        """A column for each evaluator/prompt: its scores of the dimension."""
        names = {self.columns["id"]: "id", self.columns["agent"]: "agent"}
        table = read_frame(path, "dataset.judges.path")
        need(table, (*names, *JUDGES), path, "dataset.judges.path")
        table = _named(table[table["dimension"] == self.human], names)
        table["judge"] = table["evaluator"] + "/" + table["prompt"]
        place = ["id", "agent", "judge"]
        if (twice := table[table.duplicated(place)])[place].size:
            item, system, judge = twice.iloc[0][place]
            raise DataError(
                f"{path!r}: {judge} rates system {system!r} on {item!r} twice: keep one row."
            )
        order = list(dict.fromkeys(table["judge"]))
        return table.pivot(index=["id", "agent"], columns="judge", values="score")[
            order
        ].reset_index()


def _named(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Columns by our names, ids and systems as text, so that tables of any format fit together."""
    named = frame.rename(columns=names)
    return named.assign(
        **{name: named[name].map(cell_text) for name in ("id", "agent") if name in named}
    )


def _numeric(column: Any) -> bool:
    """Whether all cells are numbers, or missing."""
    cells = [cell for value in column if (cell := cell_text(value)) is None or cell.strip()]
    return bool(cells) and all(
        cell is not None and (cell.strip().lower() in MISSING or number(cell) == number(cell))
        for cell in cells
    )
