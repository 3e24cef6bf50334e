"""One training, as the process that trains gets it, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.finetune.data import Sequence as Example
from judgelab.finetune.settings import Settings
from judgelab.scoring.source import ModelSource

COLUMNS = ("step", "epoch", "training_loss", "learning_rate", "held_out_loss")
"""Of the curve, in order."""

Row = Mapping[str, float]

Send = Callable[..., None]
"""Sends an event to the process that follows the training: its ``kind`` and values by name. The
kinds of a training are the methods of ``fit.TrainingWatch``."""


@dataclass(frozen=True)
class Job:
    """What to train.

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


@dataclass(frozen=True)
class Training:
    """What became of a training.

    Attributes:
        steps: optimizer steps.
        tokens: read, over all steps.
        seconds: of training over all executions, evaluations included.
        curve: step, epoch, and what was logged there: training_loss, held_out_loss (nats per
            token), learning_rate.
        resumed_at: the step this execution began with.
        peak_gib: most memory held at once in this execution, GiB: of the GPU where one trains,
            else of the process; None where that is unknown.
    """

    steps: int
    tokens: int
    seconds: float
    curve: tuple[Row, ...]
    resumed_at: int
    peak_gib: float | None = None

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Training:
        """The same from JSON, which does not keep the order of columns."""
        return cls(**{**stored, "curve": tuple(_in_order(row) for row in stored["curve"])})


def curve(history: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """The log of transformers' Trainer as one row a step, in order."""
    names = {"loss": "training_loss", "eval_loss": "held_out_loss"}
    rows: dict[int, dict[str, float]] = {}
    for entry in history:
        kept = {new: float(entry[old]) for old, new in names.items() if old in entry}
        if kept:
            row = rows.setdefault(
                int(entry["step"]), {"step": int(entry["step"]), "epoch": float(entry["epoch"])}
            )
            row.update(kept)
            if "learning_rate" in entry:
                row["learning_rate"] = float(entry["learning_rate"])
    return tuple(_in_order(rows[step]) for step in sorted(rows))


def _in_order(row: Row) -> dict[str, float]:
    return {name: row[name] for name in COLUMNS if name in row}
