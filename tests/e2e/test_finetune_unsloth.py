"""unsloth trains in a process of its own, imported first; what scores is not touched by it."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.finetune.data import Example
from judgelab.finetune.fit import Job, train_apart
from judgelab.finetune.settings import Settings
from judgelab.scoring.source import find
from judgelab.study import finetune as study
from tests.e2e.conftest import trainers
from tests.e2e.test_finetune_bases import few_steps, trained
from tests.tiny_models import save_quantised, save_whole

ROOT = Path(__file__).resolve().parents[2]
FAKES = ROOT / "tests" / "fakes"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("base")
    return save_quantised(save_whole(place / "whole"), place / "nf4", "nf4")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake can be imported by child processes, and notes what it is asked for."""
    path = os.pathsep.join(filter(None, (str(FAKES), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("FAKE_UNSLOTH_LOG", str(tmp_path / "unsloth.jsonl"))
    return tmp_path / "unsloth.jsonl"


def test_it_trains_in_a_child_and_the_parent_scores_unpatched(
    base: Path, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study with the paper's settings; the check for a GPU is all that is taken away."""
    from transformers.models.llama import modeling_llama

    own = modeling_llama.LlamaAttention.forward
    monkeypatch.setattr(study, "check", lambda settings: "unsloth")
    folder, result = trained(few_steps(tmp_path), base, tmp_path / "out")
    found = result["summary"]
    assert found["backend"] == "unsloth" and found["after/loss"] < found["before/loss"]
    first, loaded, adapted = (json.loads(line) for line in fake.read_text().splitlines())
    assert first["event"] == "imported" and not set(first["early"]) & {"transformers", "peft"}
    assert first["process"] != os.getpid() and "unsloth" not in sys.modules
    assert loaded["load_in_4bit"] and not loaded["load_in_8bit"] and adapted["r"] == 16
    assert modeling_llama.LlamaAttention.forward is own
    told = {"template": "chat", "dtype": "float32", "device_map": "cpu", "backend": "tree"}
    lm = Transformers(str(base), adapter=str(folder / "adapter"), **told)
    targets = ["The reviewer appreciates code.", "The reviewer questions data."]
    table = lm.logprob(["First: tests."], targets, [(0, 0), (0, 1)])
    assert np.isfinite(table.total).all() and lm.facts["drift"] is not None


def job(base: Path, folder: Path, backend: str) -> Job:
    """A few steps on a few tokens."""
    settings = Settings("t", str(base), Prompt("second_opinion.txt"), max_steps=2, threads=1)
    row = Example((5, 6, 7, 8), (-100, 6, 7, 8))
    (folder / "checkpoints").mkdir()
    where = (folder / "checkpoints", folder / "adapter")
    return Job(settings, find(str(base), None), backend, [row] * 4, [], *where)


def test_without_unsloth_the_sentence_says_what_to_do(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "unsloth.py").write_text("raise NotImplementedError('You need a GPU.')\n")
    monkeypatch.setenv("PYTHONPATH", str(broken))
    said = r"unsloth cannot be imported here \(You need a GPU\.\).*backend=peft"
    with pytest.raises(ConfigError, match=said):
        train_apart(job(base, tmp_path, "unsloth"), {})


def test_a_child_that_is_killed_leaves_a_sentence(base: Path, tmp_path: Path) -> None:
    def kill() -> None:  # while it imports: each import costs seconds
        while not (children := trainers(os.getpid())):
            time.sleep(0.01)
        os.kill(children[0], 9)

    Thread(target=kill, daemon=True).start()
    with pytest.raises(JudgelabError, match=r"ended early \(signal SIGKILL\).*continues"):
        train_apart(job(base, tmp_path, "peft"), {})
    assert not (tmp_path / "adapter").exists()
