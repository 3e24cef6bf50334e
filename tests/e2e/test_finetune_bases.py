"""Bases in 4 and 8 bits train and score, and all papers may train; nothing rests on what is learnt.

The bases have random weights, so no outcome depends on how a machine trains.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.gem import finetune_gpu
from judgelab.evaluation_lm.transformers import Transformers
from tests.e2e.conftest import command_line, inside, only_run, result
from tests.tiny_models import save_quantised, save_whole
from tests.tiny_reviews import PROMPT, papers, write

pytestmark = pytest.mark.usefixtures("training_here")


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("bases")
    whole = save_whole(place / "whole")
    return {"whole": whole, "int8": save_quantised(whole, place / "int8", "int8")}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return few_steps(tmp_path_factory.mktemp("data"))


def few_steps(place: Path) -> list[str]:
    """The paper's settings, but for few and large steps on six papers, which lie in ``place``."""
    (place / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    return [
        *("study=finetune", "tracker=none", "dataset=jsonl", "preprocessor=identity"),
        f"dataset.path={write(place / 'reviews.jsonl', papers(6))}",
        *(f"study.settings.prompt.file={place}/prompt.txt", "study.settings.threads=1"),
        *("study.settings.max_steps=8", "study.settings.log_every=2"),
        *("study.settings.evaluate_every=4", "study.settings.save_every=8"),
        *("study.settings.max_seq_length=256", "study.settings.learning_rate=5e-3"),
    ]


def trained(told: list[str], base: Path, root: Path, *more: str) -> tuple[Path, dict[str, Any]]:
    """The folder of a run with the paper's settings, and its result."""
    inside(root, [*told, f"study.settings.model={base}", *more])
    return only_run(root), result(root)


@pytest.mark.parametrize(("stored", "asked"), [("int8", "none"), ("whole", "nf4")])
def test_the_papers_settings_train_a_base_of_few_bits(
    bases: dict[str, Path], told: list[str], tmp_path: Path, stored: str, asked: str
) -> None:
    """finetune=gem_lora as it stands, but for a small base and few steps."""
    base = bases[stored]
    folder, trained_result = trained(told, base, tmp_path, f"study.settings.quantization={asked}")
    curve = pd.read_csv(folder / "tables" / "loss_curve.csv")
    losses = curve.dropna(subset="held_out_loss").set_index("step")["held_out_loss"]
    assert list(losses.index) == [0, 4, 8]
    assert losses[8] < losses[0] - 0.01, "eight large steps on random weights learn something"
    found = trained_result["summary"]
    assert found["after/loss"] < found["before/loss"] and found["after/loss_n"] == 1
    like = {"template": "chat", "quantization": asked, "dtype": "float32", "device_map": "cpu"}
    lm = Transformers(str(base), adapter=str(folder / "adapter"), **like)
    kind = stored if asked == "none" else asked
    assert f" quantization={kind} " in lm.identity
    assert np.isfinite(lm.logprob(["Second:"], ["The reviewer"], [(0, 0)]).total).all()
    assert lm.facts["adapter_base"] is None


def test_all_papers_may_train_and_the_result_says_that_nothing_was_held_out(
    bases: dict[str, Path], told: list[str], tmp_path: Path
) -> None:
    folder, trained_result = trained(told, bases["whole"], tmp_path, "study.held_out=0")
    found = trained_result["summary"]
    assert found["papers"] == 6 and found["held_out_papers"] == 0 and found["steps"] == 8
    for state in ("before", "after", "change"):
        for name in ("loss", "gem", "gem_s"):
            assert found[f"{state}/{name}"] is None, "not a number, and never 0"
            assert found[f"{state}/{name}_n"] == 0
    assert "no paper was held out (study.held_out=0)" in trained_result["notes"][0]
    curve = pd.read_csv(folder / "tables" / "loss_curve.csv")
    assert "held_out_loss" not in curve and curve["training_loss"].notna().all()
    assert (folder / "figures" / "loss_curve.png").is_file()
    card = (folder / "adapter" / "README.md").read_text()
    assert "papers held out: 0" in card and "no paper was held out" in card and "nan" not in card
    record = json.loads((folder / "adapter" / "trained_on.json").read_text())
    assert len(record["papers"]) == 6
    assert (folder / "DONE").is_file() and "nan" not in (folder / "report.html").read_text().lower()


def test_the_check_for_a_gpu_machine_runs_but_for_cuda(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """experiments/gem/finetune_gpu.py on a CPU: nf4, the paper's settings, in this process."""
    here = SimpleNamespace(run=lambda words, **_: command_line(tmp_path, *words[2:]))
    monkeypatch.setattr(finetune_gpu, "subprocess", here)
    told = ["--shape", "tiny", "--backends", "peft", "--steps", "6", "--set", "limit=4"]
    settings = {"log_every": 2, "save_every": 6, "learning_rate": 5e-3, "max_seq_length": 400}
    told += [f"study.settings.{key}={value}" for key, value in settings.items()]
    assert finetune_gpu.main([*told, "--out", str(tmp_path / "measured.json")]) == 0
    measured = json.loads((tmp_path / "measured.json").read_text())
    one = measured["backends"]["peft"]
    assert one["falls"] and one["steps"] == 6 and one["tokens_per_second"] > 0
    assert one["peak_memory_gib"] > 0.1 and measured["settings"]["quantization"] == "none"
    if not torch.cuda.is_available():
        assert finetune_gpu.main([]) == 1 and "needs a CUDA GPU" in capsys.readouterr().err
