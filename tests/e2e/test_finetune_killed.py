"""Killed while it trains, a run leaves its curve in W&B's offline file and no process behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("peft", reason="needs the extra local")

from tests.e2e.conftest import started, trainers
from tests.stored_models import save_whole
from tests.tiny_reviews import PROMPT, papers, write

pytestmark = pytest.mark.slow
PATIENCE = 240.0


def training(folder: Path) -> list[str]:
    """A training that would go on for hours."""
    (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    settings = {
        **{"model": save_whole(folder / "base"), "prompt.file": folder / "prompt.txt"},
        **{"max_steps": 100_000, "log_every": 1, "save_every": 5, "evaluate_every": 100_000},
        **{"max_seq_length": 256, "backend": "peft", "optimizer": "adamw_torch"},
    }
    return [
        *("study=finetune", "tracker=wandb", "tracker.mode=offline"),
        *("dataset=jsonl", f"dataset.path={write(folder / 'reviews.jsonl', papers(6))}"),
        "preprocessor=identity",
        *(f"study.settings.{key}={value}" for key, value in settings.items()),
    ]


def test_a_killed_training_leaves_its_curve_and_no_process(tmp_path: Path) -> None:
    until = time.monotonic() + PATIENCE
    process = started(tmp_path, training(tmp_path))
    try:
        while curve(tmp_path).count(b"loss_curve/training_loss") < 8:
            assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
            assert time.monotonic() < until, "no points while it trains"
            time.sleep(0.1)
        (child,) = trainers(process.pid)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < until, "the training outlived its run"
        time.sleep(0.1)
    written = curve(tmp_path)
    assert written.count(b"loss_curve/training_loss") >= 8
    assert b"loss_curve/held_out_loss" in written and b"loss_curve/step" in written
    assert not list(tmp_path.glob("runs/*/DONE"))


def curve(folder: Path) -> bytes:
    """What W&B has written so far; its records hold names and values in the clear."""
    files = (folder / "wandb").glob("offline-run-*/run-*.wandb")
    return b"".join(file.read_bytes() for file in files)
