"""The table of what fine-tuning does to GEM, from a training to its last row, on a small base."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("peft", reason="needs the extra local")

from experiments.gem import finetune_smollm2 as experiment
from tests.e2e.conftest import environment
from tests.tiny_reviews import papers

pytestmark = pytest.mark.slow


def release(file: Path) -> Path:
    """Reviews in the columns of the export."""
    rows = [
        {"paper_id": paper["id"], "title": f"On topic {k}", "keywords": "[]", "review_no": number}
        | {"review": text, "review_summary_gpt4o": text}
        for k, paper in enumerate(papers(9))
        for number, text in enumerate(paper["responses"].values(), 1)
    ]
    pd.DataFrame(rows).to_parquet(file)
    return file


def test_the_table_is_of_held_out_papers_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tests.stored_models import save_whole

    for name, value in (environment(tmp_path) | {"OMP_NUM_THREADS": "1"}).items():
        monkeypatch.setenv(name, value)
    base, data = save_whole(tmp_path / "base"), release(tmp_path / "reviews.parquet")
    few = ["max_steps=2", "log_every=1", "save_every=2", "max_seq_length=500"]
    told = ["--data", str(data), "--model", str(base), "--papers", "9", "--out", str(tmp_path)]
    told += [
        "--attacks",
        "random_replacement",
        "--set",
        "study.bootstrap=50",
        *(f"study.settings.{word}" for word in few),
    ]
    assert experiment.main([*told]) == 0
    rows = {row["statistic"]: row for row in json.loads((tmp_path / "table.json").read_text())}
    assert list(rows)[:2] == ["held-out loss, nats per token", "GEM of held-out pairs, nats"]
    assert "mean GEM after random replacement, nats" in rows
    effect = rows["d under random replacement"]
    assert effect["before_low"] < effect["before_value"] < effect["before_high"]
    assert effect["after_value"] != effect["before_value"] and effect["n"] == 6
    held = [json.loads(x)["id"] for x in (tmp_path / "held_out.jsonl").read_text().splitlines()]
    (record,) = (tmp_path / "training").glob("runs/*/adapter/trained_on.json")
    assert len(held) == 3 and not set(held) & set(json.loads(record.read_text())["papers"])
    said = capfd.readouterr().out
    assert "$ python run.py study=finetune" in said and "held-out loss" in said
