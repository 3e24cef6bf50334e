"""The ranking-confidence paper's claims and tables, from public annotations.

    python -m experiments.ranking_confidence.tables [--data DIR] --out FILE.json

DIR holds rose/ (scores of 12 systems) and, if there, summeval/ (expert grades and scores of LM
judges). Without DIR the claims come, by the sd of RoSE's scores (printed/tables.yaml). Prints the
tables and writes their rows as a JSON list.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.command import run_tables
from experiments.ranking_confidence.calibration import (
    errors_table,
    headline_table,
    judges_table,
    outcomes_of,
)
from experiments.ranking_confidence.claims import claims_table, rose_table
from experiments.ranking_confidence.data import cells, rose_scores
from experiments.ranking_confidence.rows import Table, paper
from judgelab.core.errors import DataError


def compute(folder: str | None = None) -> list[Table]:
    """Every table; without a folder the claims, which need no annotations but their sd.

    Raises:
        DataError: the folder holds no RoSE scores, or a damaged file.
    """
    if folder is None:
        sd = float(paper()["rose_sd"])
        return [claims_table(None, sd)]
    root = Path(folder).expanduser()
    try:
        rose = rose_scores(root)
        human = rose["acu"].to_numpy(dtype=np.float64)
        judges = [outcomes_of(cell) for cell in cells(root)]
    except (OSError, KeyError, ValueError) as cause:
        raise DataError(f"{root}: {type(cause).__name__}: {cause}") from cause
    sd = float(human.std())
    return [
        claims_table(human, sd),
        rose_table(rose),
        judges_table(judges),
        headline_table(judges),
        errors_table(judges),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    data = "folder with rose/ and summeval/; without it what follows from the print"
    return run_tables("ranking_confidence", arguments, data, compute, _claims, required=False)


def _claims(tables: Sequence[Table]) -> str:
    claims = tables[0].rows
    literal, other = (
        sum(bool(row[f"{reading}_matches"]) for row in claims)
        for reading in ("algorithm_1", "without_root_2")
    )
    return f"Of {len(claims)} claims Algorithm 1 gives {literal}, without the root of 2 {other}."


if __name__ == "__main__":
    sys.exit(main())
