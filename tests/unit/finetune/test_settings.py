"""The settings of a fine-tuning, its checkpoints' bookkeeping, its curve and its card."""

from __future__ import annotations

import inspect
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from judgelab.config import build, frame, resolved
from judgelab.config.composing import composed, read_option
from judgelab.core.errors import ConfigError
from judgelab.core.prompt import Prompt
from judgelab.finetune import fit
from judgelab.finetune.child import load
from judgelab.finetune.data import Example
from judgelab.finetune.fit import Job, Training, train_apart
from judgelab.finetune.settings import Settings, check
from judgelab.finetune.train import train
from judgelab.scoring.load import Form
from judgelab.scoring.source import ModelSource
from judgelab.study.finetune import option_of, usage
from tests.tiny_reviews import REVIEWER

ROOT = Path(__file__).resolve().parents[3]
CONF = ROOT / "conf"
OPTIONS = sorted(path.stem for path in (CONF / "finetune").glob("*.yaml"))


def told(**changes: Any) -> Settings:
    return Settings(**{"name": "t", "model": "m", "prompt": Prompt("second_opinion.txt")} | changes)


@pytest.mark.parametrize(
    "file", sorted((CONF / "preprocessor").glob("*.yaml")), ids=lambda file: file.stem
)
def test_the_printed_command_names_the_option_of_the_preprocessor(file: Path) -> None:
    """Both that an LM carries out were called ``judgments``, by their class."""
    assert option_of(build(read_option(file), file.stem)) == file.stem


@pytest.mark.parametrize("name", OPTIONS)
def test_settings_compose_inside_the_study_and_show_every_argument(name: str) -> None:
    overrides = ["study=finetune", f"finetune@study.settings={name}"]
    if name == "tiny":  # is for any small model
        overrides.append("study.settings.model=outputs/models/some")
    config = resolved(composed(overrides))
    frame(config)
    study = build(config["study"], "study")
    assert study.settings.name == name
    assert config["mechanism"]["name"] == "gem"
    node = read_option(CONF / "finetune" / f"{name}.yaml")
    assert set(inspect.signature(Settings).parameters) == set(node) - {"_target_"}


def test_the_papers_settings_are_the_default() -> None:
    overrides = ["study=finetune", "dataset=iclr2023", "agents=rules", "study.settings.r=8"]
    config = resolved(composed(overrides))["study"]
    study = build(config, "study")
    settings = study.settings
    assert (settings.r, settings.alpha, settings.batch, settings.accumulate) == (8, 16, 2, 4)
    assert (settings.learning_rate, settings.epochs, settings.seed) == (2e-4, 3.0, 42)
    for share in (-0.1, 1.0, math.nan):
        with pytest.raises(ConfigError, match=r"study.held_out=.* must be (greater|less)"):
            build({**config, "held_out": share}, "study")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": ["pmi"]}, r"study\.settings\.metrics\[0\]='pmi'"),
        ({"texts": 1}, r"study\.settings\.texts=1"),
        ({"save_every": 15}, r"multiple of study\.settings\.log_every=10"),
    ],
)
def test_values_out_of_range_are_refused(changes: dict[str, Any], said: str) -> None:
    node: dict[str, Any] = {"name": "t", "model": "m"}
    node["_target_"] = "judgelab.finetune.settings.Settings"
    node["prompt"] = {"_target_": "judgelab.core.prompt.Prompt", "file": "second_opinion.txt"}
    with pytest.raises(ConfigError, match=said):
        build(node | changes, "study.settings")


def test_what_cannot_run_is_refused_and_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(told(backend="peft")) == "peft"
    if not torch.cuda.is_available():
        assert check(told()) == "peft"
        with pytest.raises(ConfigError, match=r"needs a CUDA GPU.*study\.settings\.backend=peft"):
            check(told(backend="unsloth"))
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(ConfigError, match=r"set study\.settings\.optimizer=adamw_torch"):
        check(told(backend="peft"))
    assert check(told(backend="peft", optimizer="adamw_torch")) == "peft"


def test_the_digest_follows_what_can_change_the_adapter() -> None:
    base = told().digest
    assert told(name="other", hint="here").digest == base
    changed = [told(seed=1), told(loss_on="response"), told(prompt=Prompt("judge.txt"))]
    assert len({base, *(one.digest for one in changed)}) == 4


def test_the_command_scores_by_the_settings_of_the_training() -> None:
    system = 'Die Prüferin \\"said" ${x}\\\\" it' + "'s, a=b\\\\"
    command = usage(told(model="a b/c", system=system), {"preprocessor": "identity"}, "here")
    lm = resolved(composed(shlex.split(command)[2:]))["evaluation_lm"]
    assert (lm["model"], lm["template"], lm["adapter"]) == ("a b/c", "chat", "here")
    assert lm["system"] == system


ROWS = [Example((5, 6, 7, 8 + k), (5, 6, 7, 8 + k)) for k in range(16)]


def job(folder: Path, **changes: Any) -> Job:
    settings = Settings(
        name="t",
        model=str(REVIEWER),
        prompt=Prompt("second_opinion.txt"),
        **({"epochs": 1.0, "log_every": 1, "save_every": 100, "warmup_steps": 0} | changes),
        optimizer="adamw_torch",
        threads=1,
        gradient_checkpointing=False,
    )
    base = ModelSource(REVIEWER, "reviewer")
    return Job(settings, base, "peft", ROWS, [], folder / "checkpoints", folder / "adapter")


def test_steps_and_loss_are_as_on_one_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings = []
    original = transformers.TrainingArguments.__post_init__
    for gpus in (1, 2, 8):

        def seen(arguments: Any, gpus: int = gpus) -> None:
            original(arguments)
            arguments._n_gpu = gpus  # as transformers sets it where so many are visible

        monkeypatch.setattr(transformers.TrainingArguments, "__post_init__", seen)
        one = job(tmp_path / str(gpus))
        form = Form.of("float32", "none", "cpu", REVIEWER)
        model = load(one.settings, REVIEWER, form, "peft")
        trainings.append(train(model, form, one, lambda kind, value: None))
    assert [training.steps for training in trainings] == [2, 2, 2]
    assert trainings[0].curve == trainings[1].curve == trainings[2].curve


@pytest.mark.parametrize(
    ("visible", "device_map", "given"),
    [("2,3", None, "2"), (None, None, "0"), ("", "cpu", ""), ("2,3", "auto", "2,3")],
)
def test_the_process_that_trains_sees_one_gpu(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    visible: str | None,
    device_map: str | None,
    given: str,
) -> None:
    environments = []

    def carry(command: Any, job: Any, environment: Any, watch: Any) -> tuple[dict[str, Any], int]:
        environments.append(environment)
        return {"steps": 1, "tokens": 1, "seconds": 1.0, "curve": [], "resumed_at": 0}, 0

    monkeypatch.setattr(fit, "carry", carry)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    one = job(tmp_path, device_map=device_map)
    assert isinstance(train_apart(one, {}), Training)
    assert environments[0].get("CUDA_VISIBLE_DEVICES") == given
