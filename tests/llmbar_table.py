"""A table as users keep one, of real verdicts: two judges of LLMBar, and what experts said."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.judgments import JudgmentTable

COLUMNS = ("id", "preference", "words", "other_words", "judge", "order", "verdict")
SAID = {1.0: "1", 0.0: "2", 0.5: "tie"}


def write_csv(file: Path) -> None:
    """Every verdict with the label of its pair: 419 pairs, two judges, both orders."""
    words = ["dataset=llmbar", "dataset.lms=[GPT-4,ChatGPT]", "dataset.strategies=[Vanilla]"]
    panel = build(resolved(composed(words))["dataset"], "dataset").load()
    table = panel.judgments
    assert isinstance(table, JudgmentTable)
    rows = [
        [item, SAID[table.truth[k]], *lengths, judge.name.split("/")[0], order, SAID.get(said, "")]
        for k, (item, lengths) in enumerate(
            zip(table.units.item, table.units.words.astype(int), strict=True)
        )
        for n, judge in enumerate(table.judges)
        for order, said in enumerate(np.asarray(table.verdicts[n, k]))
    ]
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([COLUMNS, *rows])
