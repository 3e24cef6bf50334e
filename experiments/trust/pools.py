"""Real pools of labels and verdicts, and samples of them: whole clusters, with replacement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.trust.tables import Seed, table_of
from judgelab.core.judgments import Floats, JudgmentTable, Units

LLMBAR_JUDGES = ("GPT-4", "ChatGPT", "Falcon")
FRANK_METRICS = ("BertScore P Art", "FactCC", "Rouge L")
SUMMEVAL_JUDGES = ("gpt-3.5-turbo-0301", "gpt-4-0314", "llama-2-7b-chat-hf")
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


def llmbar(data: Path) -> JudgmentTable:
    """Pairs with one expert's label and three LM judges that saw both orders."""
    items = pd.read_parquet(data / "judge_audit" / "llmbar_items.parquet").astype({"set": str})
    items = items[items["set"].str.startswith("LLMBar")]
    rows = pd.read_parquet(data / "judge_audit" / "llmbar_verdicts.parquet")
    rows = rows[rows["strategy"] == "Vanilla"].astype({"set": str, "judge": str})
    rows["value"] = rows["verdict"].astype(str).map({"1": 1.0, "2": 0.0})
    wide = rows.pivot(index=["set", "item"], columns=["judge", "order"], values="value")
    wide = wide.reindex(pd.MultiIndex.from_frame(items[["set", "item"]]))
    names = [f"{where} {k}" for where, k in zip(items["set"], items["item"], strict=True)]
    places = (["output_1"] * len(names), ["output_2"] * len(names))
    units = Units.of(names, *places, words=items[["words_1", "words_2"]].to_numpy(float))
    label = (items["label"].to_numpy() == 1).astype(float)
    verdicts = {name: wide[name][[0, 1]].to_numpy(float) for name in LLMBAR_JUDGES}
    return table_of("preference", units, label[:, None], verdicts)


def frank(data: Path) -> JudgmentTable:
    """Factuality of summaries of BBC articles by people (one mean grade), and three metrics."""
    rows = pd.read_parquet(data / "judge_audit" / "frank_scores.parquet")
    rows = rows[rows["dataset"] == "bbc"]
    units = Units.of(rows["item"].tolist(), rows["system"].tolist())
    metrics = {name: rows[name].to_numpy(float) for name in FRANK_METRICS}
    return table_of("grade", units, rows[["Factuality"]].to_numpy(float), metrics)


def summeval(data: Path, dimension: str = "relevance") -> JudgmentTable:
    """Grades of 100 documents x 12 systems by three experts, and by three LM judges."""
    people = pd.read_parquet(data / "summeval" / "summeval_1200_human.parquet")
    rows = pd.read_parquet(data / "summeval" / "summeval_llm_judge_scores.parquet")
    rows = rows[(rows["dimension"] == dimension) & (rows["prompt"] == "rts")]
    wide = rows.pivot(index=["doc_id", "system_id"], columns="evaluator", values="score")
    wide = wide.reindex(pd.MultiIndex.from_frame(people[["doc_id", "system_id"]]))
    words = np.array([len(text.split()) for text in people["summary"]], float)
    units = Units.of(
        people["doc_id"].tolist(),
        people["system_id"].tolist(),
        words=np.column_stack([words, words * np.nan]),
    )
    labels = people[[f"{dimension}_expert{k}" for k in (1, 2, 3)]].to_numpy(float)
    judges = {name: wide[name].to_numpy(float) for name in SUMMEVAL_JUDGES}
    return table_of("grade", units, labels, judges)


def experts(data: Path) -> Iterator[tuple[str, JudgmentTable]]:
    """Each expert of SummEval as a judge, with the other two as people."""
    for dimension in DIMENSIONS:
        table = summeval(data, dimension)
        for k in range(3):
            name, others = f"{dimension} {k + 1}", np.delete(table.labels, k, axis=1)
            yield name, table_of("grade", table.units, others, {name: table.labels[:, k]})


def passing(table: JudgmentTable) -> JudgmentTable:
    """Grades as categories: pass above the median of all, or from it on if that is nearer half."""

    def split(values: Floats) -> Floats:
        ways = values > np.nanmedian(values), values >= np.nanmedian(values)
        best = min(ways, key=lambda way: abs(way.mean() - 0.5))
        return np.where(np.isnan(values), np.nan, best)

    judges = dict(zip(table.names, map(split, table.verdicts), strict=True))
    return table_of("category", table.units, split(table.labels), judges, ("fail", "pass"))


def sample(table: JudgmentTable, labelled: int, size: int, rng: Seed) -> JudgmentTable:
    """``size`` clusters with replacement, each a cluster of its own; labels of the first."""
    return _draw(table, rng.integers(0, int(table.clusters.max()) + 1, size), labelled)


def repeated(table: JudgmentTable, times: int) -> JudgmentTable:
    """Every cluster so often: what the pool says if it is all that there is, not a sample."""
    clusters = int(table.clusters.max()) + 1
    return _draw(table, np.tile(np.arange(clusters), times), times * clusters)


def _draw(table: JudgmentTable, clusters_at: NDArray[np.int64], labelled: int) -> JudgmentTable:
    cluster = table.clusters
    order, size = np.argsort(cluster, kind="stable"), np.bincount(cluster)
    starts = np.cumsum(size) - size
    rows = np.concatenate([order[starts[k] : starts[k] + size[k]] for k in clusters_at])
    copy = np.repeat(np.arange(len(clusters_at)), size[clusters_at])
    units = table.units.at(rows)
    names = [f"{name} {k}" for name, k in zip(units.item, copy, strict=True)]
    clusters = copy.astype(str).astype(object)
    return replace(
        table,
        units=replace(units, item=np.array(names, object), cluster=clusters),
        labels=np.where((copy < labelled)[:, None], table.labels[rows], np.nan),
        verdicts=table.verdicts[:, rows],
        asked=table.asked[:, rows],
    )
