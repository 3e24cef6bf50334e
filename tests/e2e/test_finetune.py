"""Fine-tuning for real: a tiny Llama learns that reviewers of one paper agree."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from judgelab.dataset.jsonl import Jsonl
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring.source import trained_on
from tests.e2e.conftest import inside, only_run, started, trainers
from tests.tiny_reviews import REVIEWER, papers, write

pytestmark = pytest.mark.usefixtures("training_here")
ROOT = Path(__file__).resolve().parents[2]
STEPS = 60


@pytest.fixture(scope="module")
def overrides(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    file = write(tmp_path_factory.mktemp("data") / "reviews.jsonl", papers(36))
    return [
        *("study=finetune", "finetune@study.settings=tiny", "tracker=none"),
        *("dataset=jsonl", f"dataset.path={file}", "preprocessor=identity"),
        *(f"study.settings.model={REVIEWER}", f"study.settings.prompt.file={REVIEWER}/prompt.txt"),
        *(f"study.settings.max_steps={STEPS}", "study.settings.threads=1", "study.held_out=0.3"),
        *("study.settings.batch=8", "study.settings.accumulate=1"),
        "study.settings.save_every=10",
    ]


@pytest.fixture(scope="module")
def finished(
    overrides: list[str], tmp_path_factory: pytest.TempPathFactory, training_here: None
) -> Path:
    root = tmp_path_factory.mktemp("undisturbed")
    inside(root, overrides)
    return only_run(root)


def test_held_out_loss_falls_and_mutual_information_rises(finished: Path) -> None:
    found = json.loads((finished / "result.json").read_text())["summary"]
    assert found["steps"] == STEPS and found["backend"] == "peft" and found["tokens"] > 10_000
    assert found["papers"] == 25 and found["held_out_papers"] == 11
    assert found["training_texts"] == 25 * 18
    assert found["change/loss_high"] < 0 < found["change/gem_low"]
    assert found["change/gem_s_low"] > 0
    assert found["after/loss_n"] == found["after/gem_n"] == 11
    assert (finished / "DONE").is_file() and not (finished / "checkpoints").exists()
    assert (finished / "figures" / "loss_curve.png").is_file()


def test_a_dry_run_says_what_training_will_be(
    overrides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inside(tmp_path, [*overrides, "dry_run=true"])
    said = " ".join(capsys.readouterr().out.split())
    assert "25 papers, 450 training prompts, 60 steps; 11 papers measure" in said
    assert "at study.tokens_per_second=2000, which is assumed" in said


def test_the_adapter_knows_the_papers_that_trained_it(finished: Path, overrides: list[str]) -> None:
    record = trained_on(finished / "adapter")
    assert record is not None and "trained_on.json" in (finished / "adapter/README.md").read_text()
    texts = pd.read_parquet(finished / "records" / "train_texts.parquet")
    assert sorted(record.papers) == sorted(set(texts["item"])) and len(record.papers) == 25
    panel = Jsonl(path=overrides[4].partition("=")[2]).load()
    assert set(record.papers) <= set(record.overlap(panel))


def test_trainers_loss_is_that_of_scoring(finished: Path) -> None:
    """loss_on=response: what training minimises is what scoring sums, token for token."""
    found = json.loads((finished / "result.json").read_text())["summary"]
    curve = pd.read_csv(finished / "tables" / "loss_curve.csv").set_index("step")["held_out_loss"]
    assert curve[0] == pytest.approx(found["before/loss"], rel=1e-2)  # means over tokens, papers
    assert curve[STEPS] == pytest.approx(found["after/loss"], rel=1e-2)
    assert curve[STEPS] < curve[0]


def test_the_command_of_the_result_scores_with_the_adapter(
    finished: Path, overrides: list[str], tmp_path: Path
) -> None:
    card = (finished / "adapter" / "README.md").read_text()
    assert "papers trained on: 25" in card and "tags: [judgelab, lora" in card
    notes = json.loads((finished / "result.json").read_text())["notes"]
    (said,) = (note.partition("python run.py ")[2] for note in notes if "python run.py" in note)
    score = [*shlex.split(said), *overrides[3:5], "tracker=none"]
    inside(tmp_path, score)
    found = pd.read_parquet(only_run(tmp_path) / "records" / "clean_measurements.parquet")
    after = pd.read_parquet(finished / "records" / "after_gem_measurements.parquet")
    for measured in (found, after):  # text 1, text 2, ... are the reviewers in order
        for column in ("agent", "peer"):
            measured[column] = measured[column].str[-1].astype(int)
    found[["agent", "peer"]] += 1  # r0 is text 1
    both = after.merge(found, on=["item", "agent", "peer"], suffixes=("", "_again"))
    assert len(both) == len(after) == 11 * 6
    for column in ("peer_given_agent", "marginal", "tokens"):
        np.testing.assert_allclose(both[column], both[f"{column}_again"], atol=1e-3)
    before = pd.read_parquet(finished / "records" / "before_gem_measurements.parquet")
    assert (before["peer_given_agent"] - after["peer_given_agent"]).abs().median() > 0.1
    told = {"model": str(REVIEWER), "template": "chat", "dtype": "float32"}
    tuned = Transformers(**told, adapter=str(finished / "adapter"))
    assert tuned.identity != Transformers(**told).identity


def test_killed_in_the_middle_it_leaves_its_curve_resumes_and_makes_the_same_adapter(
    finished: Path, overrides: list[str], tmp_path: Path
) -> None:
    """The training is held where it has saved, so that the kill meets it at work."""
    from safetensors.torch import load_file

    until = time.monotonic() + 240
    mirrored = ["tracker=wandb", "tracker.mode=offline"]
    process = started(tmp_path, [*(o for o in overrides if o != "tracker=none"), *mirrored])
    try:
        while not list(tmp_path.glob("runs/*/checkpoints/*/checkpoint-20/COMPLETE")):
            assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.01)
        (child,) = trainers(process.pid)
        os.kill(child, signal.SIGSTOP)
        while b"loss_curve/training_loss" not in sent_to_wandb(tmp_path):
            assert time.monotonic() < until, "no points while it trains"
            time.sleep(0.1)
    finally:
        left = trainers(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for child in left:
            os.kill(child, signal.SIGCONT)
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < until, "the training outlived its run"
        time.sleep(0.1)
    written = sent_to_wandb(tmp_path)
    assert b"loss_curve/held_out_loss" in written and b"loss_curve/step" in written
    folder = only_run(tmp_path)
    assert not (folder / "DONE").exists() and not (folder / "adapter").exists()
    (checkpoints,) = (folder / "checkpoints").iterdir()
    broken = checkpoints / f"checkpoint-{STEPS}"  # as if killed while it was written
    broken.mkdir(exist_ok=True)
    inside(tmp_path, overrides)
    assert folder.name == finished.name and (folder / "DONE").is_file()
    record = json.loads((folder / "training.json").read_text())["training"]
    assert 20 <= record["resumed_at"] < STEPS and record["steps"] == STEPS
    ours, theirs = (load_file(f / "adapter/adapter_model.safetensors") for f in (folder, finished))
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        torch.testing.assert_close(weights, theirs[name], rtol=1e-3, atol=1e-5)
    curves = [pd.read_csv(f / "tables" / "loss_curve.csv") for f in (folder, finished)]
    pd.testing.assert_frame_equal(*curves, rtol=1e-3)
    mine, whole = ((f / "result.json").read_text().replace(str(f), "") for f in (folder, finished))
    assert mine == whole


def sent_to_wandb(folder: Path) -> bytes:
    """What W&B has written so far; its records hold names and values in the clear."""
    files = (folder / "wandb").glob("offline-run-*/run-*.wandb")
    return b"".join(file.read_bytes() for file in files)


def test_force_trains_again_and_the_result_keeps_its_bytes(
    overrides: list[str], tmp_path: Path
) -> None:
    few = [*overrides, "limit=6", "study.settings.max_steps=2", "study.settings.log_every=1"]
    inside(tmp_path, few)
    folder = only_run(tmp_path)
    result, weights = folder / "result.json", folder / "adapter" / "adapter_model.safetensors"
    first, good = result.read_bytes(), weights.read_bytes()
    weights.write_bytes(b"spoilt")
    inside(tmp_path, [*few, "force=true"])
    assert weights.read_bytes() == good and result.read_bytes() == first
    (folder / "DONE").unlink()  # as if killed just before its end: the same command continues
    trained = (folder / "training.json").stat().st_mtime_ns
    inside(tmp_path, [*few, "force=true"])
    assert (folder / "training.json").stat().st_mtime_ns == trained
    assert result.read_bytes() == first
