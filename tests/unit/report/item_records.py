"""Records of made runs, as studies leave them, for tests of the page of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgelab.store.run_dir import RunDir
from tests.unit.report.report_results import result, write_run


def scored_run(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    sources: Mapping[str, str],
    labels: Sequence[tuple[str, str, str, float]] = (),
    replies: Sequence[Mapping[str, Any]] = (),
    name: str = "Agent",
) -> RunDir:
    """A run in which one mechanism scored texts.

    Args:
        rows: item, agent, text, score; category and attacked (text, score) where there are any.
        labels: item, agent, rater, value.
        replies: agent, item, reply, reason, and peer where there is one.
    """
    run = write_run(folder, result(name=name))
    table = pd.DataFrame(list(rows))
    if "category" not in table:
        table["category"] = None
    run.write_table("records/clean_texts.parquet", table[["item", "agent", "text"]])
    scores = table[["item", "agent", "category", "score"]].assign(reference=False)
    run.write_table("records/clean_scores.parquet", scores)
    given = [{"item": item, "source": text, "reference": None} for item, text in sources.items()]
    run.write_table("records/source_texts.parquet", pd.DataFrame(given).astype("string"))
    if labels:
        said = pd.DataFrame(list(labels), columns=["item", "agent", "rater", "value"])
        run.write_table("records/clean_labels.parquet", said)
    if replies:
        blank = {"judge": "mi", "peer": "", "detail": "", "draw": 0, "reply": None, "reason": ""}
        made = pd.DataFrame([blank | {"probabilities": ""} | dict(one) for one in replies])
        run.write_table("records/clean_reply_texts.parquet", made)
    return run
