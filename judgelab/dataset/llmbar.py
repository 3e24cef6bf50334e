"""LLMBar: which of two outputs follows an instruction, as experts and 104 recorded judges say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.provenance import SAMPLES

if TYPE_CHECKING:
    from pandas import DataFrame

OUTPUTS = ("output_1", "output_2")
FIRST = {"1": 1.0, "2": 0.0}  # a verdict that names an output -> whether the first is better
POINTWISE = "Rating"  # strategies that grade each output by itself
UNREAD = "the reply named neither output"


@dataclass(frozen=True, kw_only=True)
class LLMBar(LimitedDataset):
    """Zeng et al. 2024 (ICLR), "Evaluating LLMs at Evaluating Instruction Following".

    Recorded verdicts of 6 LMs by up to 20 prompts on 13 sets, both orders, with the label and the
    words of each output, are shipped (facts of the authors' repository, MIT); a judge is called
    LM/strategy. Texts are not.

    Raises:
        ConfigError: an unknown set, LM or strategy.
    """

    sets: Sequence[str]
    lms: Sequence[str] | None = None
    strategies: Sequence[str] | None = None

    def _panel(self, limit: int | None) -> Panel:
        import pandas as pd

        items = pd.read_parquet(SAMPLES / "llmbar_items.parquet").astype({"set": str})
        items = _choose(items, "set", self.sets, "sets")[:limit].reset_index(drop=True)
        names = [f"{where} {k}" for where, k in zip(items["set"], items["item"], strict=True)]
        records = pd.read_parquet(SAMPLES / "llmbar_verdicts.parquet")
        records = records.astype({"set": str, "judge": str, "strategy": str})
        records = _choose(records, "judge", self.lms, "lms")
        records = _choose(records, "strategy", self.strategies, "strategies")
        records = records.assign(by=records["judge"] + "/" + records["strategy"])
        records["first"] = records["verdict"].astype(object).map(FIRST).astype(float)
        place = items[["set", "item"]].assign(at=range(len(items)))
        records = records.merge(place, on=["set", "item"])
        counts = records["by"].value_counts()
        whole = sorted(str(by) for by, n in counts.items() if n == 2 * len(names))
        if not whole:
            raise ConfigError("dataset.lms and strategies: no such judge has verdicts on all sets.")
        wide = records.pivot(index="by", columns=["at", "order"], values="first").sort_index(axis=1)
        verdicts = wide.loc[whole].to_numpy(float).reshape(len(whole), len(names), 2)
        unread = np.isnan(verdicts).sum(axis=(1, 2))
        label = np.asarray(items["label"].astype(str).map(FIRST), np.float64)
        units = Units.of(
            names,
            [OUTPUTS[0]] * len(names),
            [OUTPUTS[1]] * len(names),
            stratum=items["set"].tolist(),
            words=items[["words_1", "words_2"]].to_numpy(float),
        )
        pointwise = [by.partition("/")[2].startswith(POINTWISE) for by in whole]
        judges = tuple(JudgeFacts(by, pointwise=g) for by, g in zip(whole, pointwise, strict=True))
        reasons = {by: {UNREAD: int(n)} for by, n in zip(whole, unread, strict=True) if n}
        asked = np.ones(verdicts.shape, np.bool_)
        people = ("expert",), label[:, None]
        facts = {
            "dataset": "llmbar",
            "source": "sample",
            "rows": len(names),
            "task_description": "Follow an instruction",
            "judges_without_all_verdicts": sorted(set(map(str, counts.index)) - set(whole)),
        }
        return Panel(
            tuple(Item(name, "") for name in names),
            tuple(Agent(name) for name in OUTPUTS),
            ((None, None),) * len(names),
            task="instruction_following",
            provenance=facts,
            judgments=JudgmentTable("preference", units, *people, judges, verdicts, asked, reasons),
        )


def _choose(rows: DataFrame, column: str, names: Sequence[str] | None, setting: str) -> DataFrame:
    """The rows with a wanted value; a name that ends in / is of all that begin so."""
    if names is None:
        return rows
    keep = np.zeros(len(rows), np.bool_)
    for name in names:
        values = rows[column]
        matches = values.str.startswith(name) if name.endswith("/") else values == name
        if not matches.any():
            hint = did_you_mean(name, set(values))
            raise ConfigError(f"dataset.{setting}: LLMBar has no {name!r}.{hint}")
        keep |= matches.to_numpy()
    return rows[keep]
