"""Texts: what the models were given, and what they answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.auto_pre.release.files import (
    ITEMS,
    datasets,
    lines,
    records,
    tagged,
)

if TYPE_CHECKING:
    import pandas as pd


def sources(root: Path, each: dict[str, Any]) -> list[str]:
    """The items' texts, in their order."""
    return [text for text, _ in _items(root, each)]


def items(root: Path) -> pd.DataFrame:
    """Rows of ``items``."""
    import pandas as pd

    return pd.DataFrame(
        {"dataset": name, "task_id": task, "source": source, "reference": reference}
        for name, each in datasets(root).items()
        for task, (source, reference) in enumerate(_items(root, each))
    )


def answers(root: Path) -> pd.DataFrame:
    """Rows of ``answers``.

    A TSV is read line by line. The authors' pipeline reads it with quotation marks, of which one
    without its partner swallows rows: from there on its answers belong to other items.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "dataset": name,
            "task_id": k % ITEMS,
            "model": model,
            "task_prompt": k // ITEMS + 1,
            "answer": answer,
        }
        for name, each in datasets(root).items()
        for model, file in tagged(root / each["folder"], [each["answers"]], each["answer_tag"])
        for k, answer in enumerate(_answers(file))
    )


def _items(root: Path, each: dict[str, Any]) -> list[tuple[str, str | None]]:
    """(text, reference)."""
    rows = [line.split("\t") for line in lines(root / each["folder"] / each["items"])]
    if each["heading"]:
        rows = rows[1:]
    return [(_text(row[0]), _text(row[1]) if len(row) > 1 else None) for row in rows]


def _answers(file: Path) -> list[str]:
    if file.suffix == ".json":
        return [str(line["response"]) for line in records(file)]
    return [_text(line) for line in lines(file)]


def _text(field: str) -> str:
    return field.strip().replace("\\n", "\n")
