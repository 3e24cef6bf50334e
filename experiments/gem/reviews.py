"""The human reviews that the authors of the GEM paper released, from a clone or an export."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.repositories import GEM
from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item, Panel

ROWS = slice(0, 300)  # papers of the clone's files that the evaluation takes
FOLDERS = ("", "dataset", "task_iclr23/dataset")
FACTS = {
    "dataset": "gem",
    "task_description": "Review a machine learning paper submitted to a conference",
}
COLUMNS = {"review": "review", "review_summary": "review_summary_gpt4o"}
"""Text, as a clone calls it -> as an export does."""


def read_reviews(path: Path, text: str = "review") -> Panel:
    """300 ICLR 2023 papers with three human reviews each, by reviewer_1 to reviewer_3.

    Abstracts and papers were not released, so sources are empty. The synopsis is the title with
    the keywords, where they are known (in an export).

    Args:
        path: a clone, a parquet file with one row a review (paper_id, title, keywords, review_no,
            review, review_summary_gpt4o), or a folder with one such file gem_iclr2023*.parquet.
        text: ``review``, or ``review_summary``: the authors' preprocessing by GPT-4o.

    Raises:
        DataError: the folder is neither, or a file is damaged.
    """
    files = sorted(path.glob(GEM.export[1][0])) if GEM.layout(path) == "export" else []
    file = files[0] if len(files) == 1 else path
    items, texts = _export(file, text) if file.is_file() else _clone(file, text)
    agents = tuple(Agent(f"reviewer_{k}") for k in (1, 2, 3))
    return Panel(tuple(items), agents, tuple(texts), "peer_review", FACTS)


Read = tuple[list[Item], list[tuple[str | None, ...]]]


def _export(file: Path, text: str) -> Read:
    column = COLUMNS[text]
    table = _table(file, ("review_no", column))
    items, texts = [], []
    for paper, rows in table.groupby("paper_id", sort=False):
        by_number = dict(zip(rows["review_no"].astype(float), rows[column], strict=True))
        if len(rows) != 3 or sorted(by_number) != [1, 2, 3]:
            raise DataError(
                f"{str(file)!r}: paper {paper!r} has not the reviews 1, 2 and 3: fetch it again."
            )
        items.append(Item(str(paper), "", synopsis=_synopsis(rows.iloc[0].to_dict())))
        texts.append(tuple(_text(by_number[k]) for k in (1, 2, 3)))
    return items, texts


def _clone(root: Path, text: str) -> Read:
    names = [f"dataset_human_review{number}.parquet" for number in (1, 2, 3)]
    folder = next((root / f for f in FOLDERS if (root / f / names[0]).is_file()), None)
    if folder is None:
        raise DataError(
            f"{str(root)!r} holds no {names[0]}: give a clone of {GEM.address}, or the parquet "
            f"file with one row a review."
        )
    tables = [_table(folder / name, (text,)).iloc[ROWS] for name in names]
    ids = [list(map(str, table["paper_id"])) for table in tables]
    if not ids[0] or any(other != ids[0] for other in ids):
        raise DataError(
            f"{str(folder)!r}: the three files do not list the same papers in rows "
            f"{ROWS.start} to {ROWS.stop - 1}: fetch them again."
        )
    columns = [table[text].tolist() for table in tables]
    texts = [tuple(map(_text, row)) for row in zip(*columns, strict=True)]
    return [Item(paper, "") for paper in ids[0]], texts


def _table(file: Path, columns: Sequence[str]) -> pd.DataFrame:
    try:
        table = pd.read_parquet(file)
    except (OSError, ValueError) as cause:
        raise DataError(f"{str(file)!r} cannot be read ({cause}): fetch it again.") from cause
    for column in ("paper_id", *columns):
        if column not in table or table[column].isna().any():
            raise DataError(
                f"{str(file)!r} has no column {column!r}, or empty cells in it: fetch it again."
            )
    return table


def _synopsis(row: Mapping[Any, Any]) -> str | None:
    """Title and keywords."""
    title, listed = _text(row.get("title")), _text(row.get("keywords")) or ""
    try:
        words = ", ".join(map(str, ast.literal_eval(listed)))
    except (ValueError, SyntaxError):  # not a list, but words
        words = listed
    return f"{title}\nKeywords: {words}" if title and words else title


def _text(cell: object) -> str | None:
    return cell if isinstance(cell, str) and cell.strip() else None
