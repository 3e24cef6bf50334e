"""Tables of judgments for tests: real verdicts of real judges, and made ones of known truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgelab.agents.recorded import Recorded
from judgelab.attack.none import NoAttack
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent, Panel
from judgelab.engine.context import Context
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.length import Length
from judgelab.preprocessor.identity import Identity
from judgelab.store.run_dir import RunDir
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.rules import TrustRules
from judgelab.synopsis.recorded import RecordedSynopsis

NATURAL = ("LLMBar/Natural",)
ADVERSARIAL = tuple(
    f"LLMBar/Adversarial/{name}" for name in ("Neighbor", "GPTInst", "GPTOut", "Manual")
)


def llmbar(data: Path, sets: tuple[str, ...] = NATURAL) -> JudgmentTable:
    """All judges ("GPT-4/CoT") that have verdicts on all of these sets.

    Args:
        data: ``shared_data`` of tests/conftest.
    """
    items = pd.read_parquet(data / "judge_audit" / "llmbar_items.parquet")
    items = items[items["set"].isin(sets)].reset_index(drop=True)
    names = [f"{where} {number}" for where, number in zip(items["set"], items["item"], strict=True)]
    place = {name: k for k, name in enumerate(names)}
    said = pd.read_parquet(data / "judge_audit" / "llmbar_verdicts.parquet")
    said = said[said["set"].isin(sets)]
    judges = said["judge"].astype(str) + "/" + said["strategy"].astype(str)
    everywhere = [str(name) for name, n in judges.value_counts().items() if n == 2 * len(names)]
    who = {name: k for k, name in enumerate(sorted(everywhere))}
    kept = said[judges.isin(who)].assign(judge=judges)
    at = [place[f"{w} {n}"] for w, n in zip(kept["set"], kept["item"], strict=True)]
    verdicts = np.full((len(who), len(names), 2), np.nan)
    value = kept["verdict"].astype(str).map({"1": 1.0, "2": 0.0}).to_numpy(float)
    verdicts[kept["judge"].map(who).to_numpy(int), at, kept["order"].to_numpy(int)] = value
    return JudgmentTable(
        "preference",
        Units.of(
            names,
            ["output_1"] * len(names),
            ["output_2"] * len(names),
            stratum=items["set"].astype(str).tolist(),
            words=items[["words_1", "words_2"]].to_numpy(float),
            chance=np.ones(len(names)),
        ),
        ("expert",),
        (items["label"].to_numpy() == 1).astype(float)[:, None],
        tuple(
            JudgeFacts(name, family=name.split("/")[0], pointwise="/Rating" in name) for name in who
        ),
        verdicts,
        np.ones(verdicts.shape, np.bool_),
    )


def frank(data: Path, dataset: str | None = "bbc") -> JudgmentTable:
    """Human factuality of summaries and the metrics beside it; NaN where a metric has none.

    Args:
        dataset: bbc or cnndm; None: both.
    """
    rows = pd.read_parquet(data / "judge_audit" / "frank_scores.parquet")
    rows = rows[rows["dataset"] == (dataset or rows["dataset"])].reset_index(drop=True)
    metrics = list(rows.columns[rows.columns.tolist().index("split") + 1 :])
    verdicts = rows[metrics].to_numpy(float).T[:, :, None]
    return JudgmentTable(
        "grade",
        Units.of(rows["item"].tolist(), rows["system"].tolist(), chance=np.ones(len(rows))),
        ("people",),
        rows[["Factuality"]].to_numpy(float),
        tuple(JudgeFacts(name, pointwise=True) for name in metrics),
        verdicts,
        ~np.isnan(verdicts),
    )


def summeval(data: Path, dimension: str = "relevance") -> JudgmentTable:
    """Grades of 100 documents x 12 systems by three experts, and by nine LM judges; no words."""
    people = pd.read_parquet(data / "summeval" / "summeval_1200_human.parquet")
    people = people.sort_values(["doc_id", "system_id"]).reset_index(drop=True)
    said = pd.read_parquet(data / "summeval" / "summeval_llm_judge_scores.parquet")
    said = said[said["dimension"] == dimension]
    said = said.assign(judge=said["evaluator"] + "/" + said["prompt"])
    wide = said.pivot(index=["doc_id", "system_id"], columns="judge", values="score")
    wide = wide.reindex(pd.MultiIndex.from_frame(people[["doc_id", "system_id"]]))
    experts = [f"{dimension}_expert{k}" for k in (1, 2, 3)]
    verdicts = wide.to_numpy(float).T[:, :, None]
    names = [str(name) for name in wide.columns]
    return JudgmentTable(
        "grade",
        Units.of(people["doc_id"].tolist(), people["system_id"].tolist()),
        tuple(experts),
        people[experts].to_numpy(float),
        tuple(JudgeFacts(n, family=n.split("-")[0], pointwise=True) for n in names),
        verdicts,
        np.ones(verdicts.shape, np.bool_),
    )


def made_pairs(
    items: int = 200,
    accuracies: tuple[float, ...] = (0.9, 0.5),
    *,
    first: float = 0.0,
    seed: int = 0,
    labelled: int | None = None,
) -> JudgmentTable:
    """Judges that are right with these probabilities; independent items, one rater.

    Args:
        first: probability with which a judge takes the text shown first, whatever it is.
        labelled: of the first so many items; None: all.
    """
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, items).astype(float)
    right = rng.random((len(accuracies), items, 2)) < np.array(accuracies)[:, None, None]
    verdicts = np.where(right, label[:, None], 1 - label[:, None])
    shown_first = np.broadcast_to(np.array([1.0, 0.0]), verdicts.shape)
    verdicts = np.where(rng.random(verdicts.shape) < first, shown_first, verdicts)
    known = np.arange(items) < (items if labelled is None else labelled)
    names = [f"item {k}" for k in range(items)]
    return JudgmentTable(
        "preference",
        Units.of(
            names,
            ["a"] * items,
            ["b"] * items,
            words=rng.integers(20, 90, (items, 2)).astype(np.float64),
        ),
        ("rater",),
        np.where(known, label, np.nan)[:, None],
        tuple(JudgeFacts(f"judge {k}") for k in range(len(accuracies))),
        verdicts,
        np.ones(verdicts.shape, np.bool_),
    )


def made_raters(
    items: int = 120,
    people: tuple[float, ...] = (0.85, 0.8, 0.75),
    judges: tuple[float, ...] = (0.95, 0.5),
    seed: int = 0,
) -> JudgmentTable:
    """Several people and judges that are right with these probabilities, each on its own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items).astype(float)

    def said(accuracies: tuple[float, ...]) -> np.ndarray:
        right = rng.random((len(accuracies), items)) < np.array(accuracies)[:, None]
        return np.where(right, truth, 1 - truth)

    labels, verdicts = said(people).T, np.stack([said(judges)] * 2, axis=2)
    names = [f"item {k}" for k in range(items)]
    return JudgmentTable(
        "preference",
        Units.of(names, ["a"] * items, ["b"] * items),
        tuple(f"rater {k}" for k in range(len(people))),
        labels,
        tuple(JudgeFacts(f"judge {k}") for k in range(len(judges))),
        verdicts,
        np.ones(verdicts.shape, np.bool_),
    )


def audit_case(
    table: JudgmentTable,
    folder: Path,
    agents: tuple[Agent, ...] = (),
    sampled: bool | None = None,
    seed: int = 0,
    draws: int = 200,
) -> AuditCase:
    """What a part of an audit looks at: these judgments, in a run that asks no LM.

    Args:
        folder: of the run.
    """
    panel = Panel((), agents, judgments=table)
    context = Context(
        dataset=_Given(panel),
        agents=Recorded(),
        synopsis=RecordedSynopsis(),
        evaluation_lm=Compression(),
        preprocessor=Identity(),
        attack=NoAttack(),
        mechanism=Length(),
        run_dir=RunDir(folder),
        seed=seed,
        limit=None,
    )
    return AuditCase(table, panel, context, {}, sampled, TrustRules(), seed, draws)


@dataclass(frozen=True)
class _Given:
    """A dataset that is there already."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        return self.panel.head(limit)
