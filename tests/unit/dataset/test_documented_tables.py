"""The tables of docs/datasets.md are read by the commands that stand under them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.judgments import JudgmentTable

DOCS = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"
SAID = re.compile(r"```csv\n(.*?)```\n\n    python run.py (.*?)\n", re.DOTALL)
EXAMPLES = SAID.findall(DOCS.read_text(encoding="utf-8"))
WANTED = [  # kind, raters, truth, verdicts of each judge
    ("grade", ("ann", "bob"), [2.5, 5], [[[4], [5]]]),
    ("preference", ("people",), [0, 0.5], [[[0, 0], [1, np.nan]]]),
    ("category", ("people",), [1, 2, 0], [[[2], [2], [np.nan]]]),
    ("preference", ("ann", "bob"), [0, 0.75], [[[0, 0], [1, 0]], [[1, np.nan], [0, np.nan]]]),
]


def read(folder: Path, text: str, command: str) -> JudgmentTable:
    file = folder / "judged.csv"
    file.write_text(text, encoding="utf-8")
    words = [word.replace("judged.csv", str(file)) for word in shlex.split(command)]
    panel = build(resolved(composed(words))["dataset"], "dataset").load()
    assert isinstance(panel.judgments, JudgmentTable)
    return panel.judgments


def test_every_example_is_tried() -> None:
    assert len(EXAMPLES) == len(WANTED)


@pytest.mark.parametrize("k", range(len(WANTED)))
def test_an_example(tmp_path: Path, k: int) -> None:
    found = read(tmp_path, *EXAMPLES[k])
    kind, raters, truth, verdicts = WANTED[k]
    assert (found.kind, found.raters) == (kind, raters)
    assert np.array_equal(found.truth, truth, equal_nan=True)
    assert np.array_equal(found.verdicts, np.array(verdicts, float), equal_nan=True)
