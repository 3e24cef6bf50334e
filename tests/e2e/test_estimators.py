"""Sweeps say where one name stands for several estimators."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from tests.e2e.conftest import Command
from tests.tiny_models import model, tokenizer

WARNING = "Different estimators under one name"
SHORT = ("limit=2", "tracker=none", "study.bootstrap=20")


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """A tiny model on two items of three texts."""
    folder, panel = tmp_path / "tiny", tmp_path / "panel.jsonl"
    model("llama_gqa").save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    rows = [
        {"id": f"q{k}", "source": f"Fog {k}.", "responses": {a: f"{a} saw fog {k}." for a in "abc"}}
        for k in range(2)
    ]
    panel.write_text("\n".join(map(json.dumps, rows)))
    lm = ["evaluation_lm=transformers", f"evaluation_lm.model={folder}"]
    return [*lm, "dataset=jsonl", f"dataset.path={panel}", *SHORT]


@pytest.mark.slow
def test_a_sweep_over_the_template_says_so_and_marks_the_rows(
    job: list[str], judgelab: Command, tmp_path: Path
) -> None:
    done = judgelab("-m", *job, "mechanism=mi", "evaluation_lm.template=chat,none")
    assert done.returncode == 0, done.stderr
    (first,) = (line for line in done.stdout.splitlines() if line.startswith(WARNING))
    assert "rows of mi differ in the chat template (chat template; no chat template)" in first
    assert "the end token (end token counted; end token not counted)" in first
    (folder,) = (tmp_path / "sweeps").iterdir()
    with (folder / "comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["estimator_differs"] for row in rows] == [
        "chat template, end token counted",
        "no chat template, end token not counted",
    ]
    assert all(row["estimator"].startswith("mi with transformers tiny, ") for row in rows)
    found = json.loads((folder / "comparison.json").read_text())
    assert [entry["estimators"][0]["precision"] for entry in found] == ["fp32", "fp32"]
    page = (folder / "report.html").read_text()
    assert page.index(WARNING) < page.index("<table ")
