"""Texts: what the models were given, what they answered, and the exam's other questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.releases.auto_pre.clone.files import (
    ITEMS,
    datasets,
    layout,
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

    rows = []
    for name, each in datasets(root).items():
        file = root / each["folder"] / "new_text.json"
        other = [line["new_text"] for line in records(file)] if file.is_file() else []
        for task, (source, reference) in enumerate(_items(root, each)):
            texts = {"source": source, "reference": reference}
            asked = {"q_prime": other[task] if task < len(other) else None}
            rows.append({"dataset": name, "task_id": task} | texts | asked)
    return pd.DataFrame(rows)


def answers(root: Path) -> pd.DataFrame:
    """Rows of ``answers``; ``answer_as_fed_by_pipeline`` where the judges were shown another text.

    A TSV is read line by line. The authors' pipeline reads it with quotation marks, of which one
    without its partner swallows rows: from there on its answers belong to other items.
    """
    import pandas as pd

    rows = []
    for name, each in datasets(root).items():
        for model, file in tagged(root / each["folder"], [each["answers"]], each["answer_tag"]):
            given = _answers(file)
            fed = _fed(root, each, model)
            for k, answer in enumerate(given):
                other = bool(fed) and not _same(answer, fed.get(k))
                rows.append(
                    {
                        "dataset": name,
                        "task_id": k % ITEMS,
                        "model": model,
                        "evaluated": model in layout()["judged"],
                        "task_prompt": k // ITEMS + 1,
                        "answer": answer,
                        "answer_as_fed_by_pipeline": fed.get(k) if other else None,
                        "pipeline_mismatch": other,
                    }
                )
    return pd.DataFrame(rows)


def irrelevant(root: Path) -> pd.DataFrame:
    """Rows of ``ia_answers``: answers to the pertinence exam's other questions."""
    import pandas as pd

    return pd.DataFrame(
        {
            "dataset": name,
            "l2_file": file.stem,
            "task_id": task,
            "answer_to_q_prime": line["response"],
        }
        for name, each in datasets(root).items()
        for file in sorted((root / each["folder"] / "L2_responses").glob("*.json"))
        for task, line in enumerate(records(file))
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


def _fed(root: Path, each: dict[str, Any], model: str) -> dict[int, str]:
    """What the pipeline took for each answer; nothing where its file is not there."""
    file = root / "output" / "task_responses" / f"{each['outputs']}_{model}.json"
    return dict(
        enumerate(str(line["response"]) for line in (records(file) if file.is_file() else []))
    )


def _same(one: str, two: str | None) -> bool:
    """But for quotation marks, which the pipeline drops."""
    return two is not None and one.replace('"', "").strip() == two.replace('"', "").strip()


def _text(field: str) -> str:
    return field.strip().replace("\\n", "\n")
