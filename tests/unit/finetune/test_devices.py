"""Fine-tuning is the same training however many GPUs are visible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers", reason="needs the extra local")
pytest.importorskip("peft", reason="needs the extra local")

from judgelab.core.prompt import Prompt  # noqa: E402
from judgelab.finetune import fit  # noqa: E402
from judgelab.finetune.child import load  # noqa: E402
from judgelab.finetune.data import Example  # noqa: E402
from judgelab.finetune.fit import Job, Training, TrainingWatch, train_apart  # noqa: E402
from judgelab.finetune.settings import Settings  # noqa: E402
from judgelab.finetune.train import train  # noqa: E402
from judgelab.scoring.load import Form  # noqa: E402
from judgelab.scoring.source import ModelSource  # noqa: E402
from tests.tiny_reviews import REVIEWER  # noqa: E402

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


def test_steps_batch_and_loss_are_those_of_one_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        trainings.append(train(model, form, one, lambda **event: None))
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
    assert isinstance(train_apart(one, TrainingWatch(lambda line, calls: None)), Training)
    assert environments[0].get("CUDA_VISIBLE_DEVICES") == given
