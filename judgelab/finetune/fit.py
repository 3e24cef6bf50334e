"""From sequences to an adapter on disk, however often the process dies on the way."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import require
from judgelab.finetune.data import Sequence as Example
from judgelab.finetune.job import Job
from judgelab.finetune.parent import train_apart
from judgelab.finetune.settings import Settings
from judgelab.finetune.watch import TrainingProgress
from judgelab.scoring.source import ModelSource
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from judgelab.finetune.train import Training

ADAPTER = "adapter"
RECORD = "training.json"


def fit(
    settings: Settings,
    base: ModelSource,
    backend: str,
    rows: Sequence[Example],
    held_out: Sequence[Example],
    run_dir: RunDir,
    key: str,
    watch: TrainingProgress,
) -> Training:
    """Train in a child process, and leave ``adapter/`` and training.json in the run directory.

    An earlier execution's adapter is taken as it is, and its last whole checkpoint is continued,
    if it had the same ``key``: the hash of everything that can change the adapter.
    """
    from judgelab.finetune.train import Training

    done = _done(run_dir, key)
    if done is not None:
        return Training(**done)
    checkpoints = run_dir.path / "checkpoints" / key
    checkpoints.mkdir(parents=True, exist_ok=True)
    adapter = run_dir.path / ADAPTER
    release()  # whatever scored before: the child needs the memory
    job = Job(settings, base, backend, rows, held_out, checkpoints, adapter)
    found = train_apart(job, watch)
    run_dir.write_json(RECORD, {"key": key, "training": asdict(found)})
    shutil.rmtree(run_dir.path / "checkpoints")
    return found


def discard(run_dir: RunDir) -> None:
    """Have the next ``fit`` begin anew; an adapter stays until there is another."""
    (run_dir.path / RECORD).unlink(missing_ok=True)
    shutil.rmtree(run_dir.path / "checkpoints", ignore_errors=True)


def release() -> None:
    """Give back the memory of a model that nobody holds any more."""
    gc.collect()
    torch = require("torch", extra="local")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _done(run_dir: RunDir, key: str) -> dict[str, Any] | None:
    if not (run_dir.path / RECORD).is_file() or not (run_dir.path / ADAPTER).is_dir():
        return None
    from judgelab.finetune.train import in_order

    record = run_dir.read_json(RECORD)
    if record.get("key") != key:
        return None
    found: dict[str, Any] = record["training"]
    return {**found, "curve": tuple(in_order(row) for row in found["curve"])}
