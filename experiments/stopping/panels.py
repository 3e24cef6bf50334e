"""Recorded scores [items, competitors] of real judges and systems, with their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC
from judgelab.stats.discrimination.auc import item_auc
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.sequential.ends import Bounds
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar

DOMAINS = ("xsum", "samsum", "billsum", "reddit_tifu")


@dataclass(frozen=True)
class Recorded:
    """What was asked once, to be asked again in other orders.

    Attributes:
        name: data, and what is compared.
        scores: [items, competitors]; of one competitor for widths.
        bounds: least and largest score; None: there are none.
    """

    name: str
    scores: Floats
    bounds: Bounds | None


def orders(data: Path) -> Iterator[Recorded]:
    """Panels whose competitors are ranked."""
    table = llmbar(data, NATURAL + ADVERSARIAL)
    said = np.where(np.isnan(table.verdicts), -1, table.verdicts)
    credit = (said == table.truth[None, :, None]).mean(axis=2).T
    for prompt in ("Vanilla", "CoT"):
        mine = [k for k, name in enumerate(table.names) if name.endswith(f"/{prompt}")]
        yield Recorded(f"LLMBar: LMs as judges, prompt {prompt}", credit[:, mine], (0, 1))
    judge = pd.read_parquet(data / "summeval" / "summeval_llm_judge_scores.parquet")
    grades = judge[(judge["evaluator"] == "gpt-4-0314") & (judge["prompt"] == "rts")]
    wide = grades.pivot_table(index="doc_id", columns="system_id", values="score")
    yield Recorded("SummEval: systems graded by GPT-4", wide.to_numpy(float), (1, 5))
    rose = pd.read_parquet(data / "rose" / "rose_cnndm_100docs_x_12systems.parquet")
    wide = rose.pivot_table(index="example_id", columns="system", values="acu")
    yield Recorded("ROSE: systems by content units", wide.to_numpy(float), (0, 1))
    grades = pd.read_parquet(data / "auto_pre" / "score_pointwise.parquet")
    for domain in ("XSum", "DailyDialog"):
        kept = (grades["dataset"] == domain) & (grades["evaluator"] == "gpt-4")
        mine = grades[kept & (grades["format"] == "100-level")]
        wide = mine.pivot_table(index="task_id", columns="model", values="score")
        yield Recorded(f"Auto-PRE {domain}: models graded by GPT-4", wide.to_numpy(float), (0, 100))


def aucs(data: Path) -> Iterator[Recorded]:
    """Item AUC of good agents against problematic ones, by domain and mechanism."""
    kinds = pd.read_parquet(data / "peer_prediction" / "responses.parquet")
    for domain in DOMAINS:
        found = np.load(data / "peer_prediction" / "matrices" / f"{domain}.npz", allow_pickle=True)
        mine = kinds[kinds["domain"] == domain].drop_duplicates("agent_index")
        category = mine.sort_values("agent_index")["category"].to_numpy()
        good, bad = (np.isin(category, list(g)) for g in (GOOD_FAITH, PROBLEMATIC))
        for name, key in (("judge", "judge_with_context"), ("MI", "mi"), ("TVD-MI", "tvd_mi")):
            pair = np.asarray(found[key], dtype=np.float64)
            pair[:, np.arange(pair.shape[1]), np.arange(pair.shape[1])] = np.nan
            back = 1 - pair if key.startswith("judge") else pair
            agent = (np.nanmean(pair, axis=2) + np.nanmean(back, axis=1)) / 2
            auc = item_auc(agent, good, bad)
            yield Recorded(f"{domain}, {name}", auc[~np.isnan(auc)][:, None], (0, 1))
