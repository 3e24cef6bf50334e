"""The judges' exams as they were recorded: pertinence and self-confidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.auto_pre.release.files import ITEMS, datasets, judge_of, records

if TYPE_CHECKING:
    import pandas as pd

OLD = "-old"  # how names of files end of which there is a later run
PAPERS = ("ChatGLM2-6B", "gpt-3.5-turbo", 1)
"""Who wrote the relevant answers, who the others, and the prompt, where no folder says so."""
PERTINENCE = re.compile(r"(.+)_L1-(.+)_L2-(\d)")
BY_PROBABILITY = re.compile(r"(.+)_(easy|hard)_(\d)")
BY_WORDS = re.compile(r"(.+)_(easy|hard)")


def pertinence(root: Path) -> pd.DataFrame:
    """Rows of ``exam_pertinence``: -1 the answer shown first was preferred, 1 the other.

    ``result_stored`` is as the files have it: mostly by the last label of a reply, in the paper's
    own configuration by the first.
    """
    import pandas as pd

    rows = []
    for folder in sorted((root / "output" / "exam_pertinence").glob("**/")):
        found = PERTINENCE.fullmatch(folder.name)
        first, second, prompt = (found[1], found[2], int(found[3])) if found else PAPERS
        for name, tag, said in _runs(root, folder):
            for k, line in enumerate(said):
                rows.append(
                    {
                        "dataset": name,
                        "L1_RA": first,
                        "L2_IA": second,
                        "prompt": prompt,
                        **_run(tag),
                        "task_id": k // 2,
                        "ra_first": k % 2 == 0,
                        "result_stored": int(line["result"]),
                        "response": str(line["response"]),
                    }
                )
    return pd.DataFrame(rows)


def self_confidence(root: Path) -> pd.DataFrame:
    """Rows of ``exam_self_confidence``: probabilities of the emitted label, or a level in words."""
    import pandas as pd

    top = root / "output" / "exam_self_confidence"
    rows = []
    for folder, pattern in (
        (top, BY_WORDS),
        (top / "direct", BY_WORDS),
        (top / "prob", BY_PROBABILITY),
    ):
        method = "prob" if pattern is BY_PROBABILITY else "direct"
        for name, tag, said in _runs(root, folder):
            found = pattern.fullmatch(tag.removesuffix(OLD))
            if found is None:
                continue
            prompt = f"prompt{found[3]}" if method == "prob" else "null"
            for k, line in enumerate(said):
                rows.append(
                    {
                        "dataset": name,
                        "method": method,
                        "prompt": prompt,
                        "evaluator": judge_of(found[1]),
                        "old_run": tag.endswith(OLD),
                        "set": found[2],
                        "task_id": k // 2,
                        "swapped": k % 2,
                        **(_probabilities(line) if method == "prob" else _level(line)),
                        "response": str(line["response"]),
                    }
                )
    return pd.DataFrame(rows)


def _runs(root: Path, folder: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """(dataset, rest of the name, lines) of the files that have all their lines."""
    begin = {each["outputs"]: name for name, each in datasets(root).items()}
    for file in sorted(folder.glob("*.json")):
        word, _, tag = file.stem.partition("_")
        if word in begin and len(said := records(file)) == 2 * ITEMS:
            yield begin[word], tag, said


def _run(tag: str) -> dict[str, object]:
    return {"evaluator": judge_of(tag.removesuffix(OLD)), "old_run": tag.endswith(OLD)}


def _probabilities(line: dict[str, Any]) -> dict[str, float | None]:
    """Of the emitted label, of "one" and of "two"; None where there is none (-1 in the files)."""
    keys = {"p_output": "res_pro", "p_one": "probability_of_one", "p_two": "probability_of_two"}
    values = {name: float(line[key]) for name, key in keys.items()}
    return {name: value if value >= 0 else None for name, value in values.items()}


def _level(line: dict[str, Any]) -> dict[str, int | None]:
    """As the release read it; 0, a level that it could not read, is kept as none."""
    level = line["result"]
    return {"level_stored": None if level is None else int(level) or None}
