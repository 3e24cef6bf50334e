"""A long table of a user's, in memory: three agents, one of whom writes about the next item."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgelab.dataset.provenance import SAMPLES

if TYPE_CHECKING:
    from pandas import DataFrame


def graded(items: int = 6) -> DataFrame:
    """Sample articles with a reference; grades that one person gave."""
    import pandas as pd

    lines = (SAMPLES / "xsum.jsonl").read_text(encoding="utf-8").splitlines()
    given = [json.loads(line) for line in lines[:items]]
    rows = []
    for k, row in enumerate(given):
        texts = {
            "good": row["summary"],
            "lead": row["document"].partition("\n")[0],
            "astray": given[(k + 1) % items]["summary"],
        }
        shared = {"id": row["id"], "source": row["document"], "reference": row["summary"]}
        grades = {"good": 5, "lead": 3 + k % 2, "astray": 1}
        rows += [{**shared, "agent": a, "text": texts[a], "human": grades[a]} for a in texts]
    return pd.DataFrame(rows)
