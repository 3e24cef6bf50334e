"""One training, as the process that trains gets it, and how it is carried out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.finetune.base import load
from judgelab.finetune.data import Sequence as Example
from judgelab.finetune.settings import Settings
from judgelab.finetune.watch import TrainingProgress
from judgelab.scoring.source import ModelSource

if TYPE_CHECKING:
    from judgelab.finetune.train import Training


@dataclass(frozen=True)
class Job:
    """What a training is told.

    Attributes:
        settings, base, backend: as for ``base.load``.
        rows, held_out: sequences that train, and those whose loss is followed; perhaps none.
        checkpoints: their folder; it must belong to the same base, rows and settings.
        adapter: the folder that will hold the trained weights.
    """

    settings: Settings
    base: ModelSource
    backend: str
    rows: Sequence[Example]
    held_out: Sequence[Example]
    checkpoints: Path
    adapter: Path


def carry_out(job: Job, progress: TrainingProgress) -> Training:
    """Train from the last whole checkpoint, if any, and leave the adapter.

    Raises:
        ConfigError: the base does not load, or the loss is not a number.
    """
    loaded = load(job.settings, job.base.folder, job.backend)
    from judgelab.finetune.train import train  # after the base: unsloth comes before transformers

    found = train(loaded, job.rows, job.held_out, job.settings, job.checkpoints, progress)
    _save(loaded.model, job.settings, job.base, job.adapter)
    return found


def _save(model: Any, settings: Settings, base: ModelSource, folder: Path) -> None:
    """The adapter as a whole folder or not at all; it names the base as the user did."""
    config = model.peft_config["default"]
    config.base_model_name_or_path = settings.model
    config.revision = base.name.rpartition("@")[2] if "@" in base.name else None
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    model.save_pretrained(part, safe_serialization=True, save_embedding_layers=False)
    shutil.rmtree(folder, ignore_errors=True)
    part.replace(folder)
