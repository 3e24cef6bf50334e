"""Training as the run sees it: a process of its own, its progress, and the adapter on disk.

However often the process dies on the way, the same command continues it.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgelab.core import errors
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.core.resources import PACKAGE
from judgelab.finetune.data import Example
from judgelab.finetune.settings import Settings
from judgelab.scoring.source import ModelSource
from judgelab.store.run_dir import RunDir

ADAPTER = "adapter"
RECORD = "training.json"
COLUMNS = ("step", "epoch", "training_loss", "learning_rate", "held_out_loss")
"""Of the curve, in order."""

Row = Mapping[str, float]
Send = Callable[[str, Any], None]  # an event, its kind and value, to the process that follows
Watch = Mapping[str, Callable[[Any], None]]
"""What is done with events by kind: a ``line`` of progress, a ``point`` (row) of the curve."""


@dataclass(frozen=True)
class Job:
    """What to train."""

    settings: Settings
    base: ModelSource
    backend: str  # peft or unsloth
    rows: Sequence[Example]  # sequences that train
    held_out: Sequence[Example]  # those whose loss is followed; perhaps none
    checkpoints: Path  # their folder; it must belong to the same base, rows and settings
    adapter: Path  # the folder that will hold the trained weights


@dataclass(frozen=True)
class Training:
    """What became of a training."""

    steps: int  # optimizer steps
    tokens: int  # read, over all steps
    seconds: float  # of training over all executions, evaluations included
    # step, epoch, and what was logged there: training_loss, held_out_loss (nats per token),
    # learning_rate
    curve: Sequence[Row]
    resumed_at: int  # the step this execution began with
    # most memory held at once in this execution, GiB: of the GPU where one trains, else of the
    # process; None where that is unknown
    peak_gib: float | None = None


def curve(history: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """The log of transformers' Trainer as one row a step, in order."""
    names = {"loss": "training_loss", "eval_loss": "held_out_loss", "learning_rate": ""}
    rows: dict[int, dict[str, float]] = {}
    for entry in history:
        if "loss" in entry or "eval_loss" in entry:
            step = int(entry["step"])
            row = rows.setdefault(step, {"step": step, "epoch": float(entry["epoch"])})
            row |= {new or old: float(entry[old]) for old, new in names.items() if old in entry}
    return tuple(rows[step] for step in sorted(rows))


def fit(
    settings: Settings,
    base: ModelSource,
    backend: str,
    rows: Sequence[Example],
    held_out: Sequence[Example],
    run_dir: RunDir,
    key: str,
    watch: Watch,
) -> Training:
    """Train in a child process, and leave ``adapter/`` and training.json in the run directory.

    An earlier execution's adapter is taken as it is, and its last whole checkpoint is continued,
    if it had the same ``key``: the hash of everything that can change the adapter.
    """
    adapter, checkpoints = run_dir.path / ADAPTER, run_dir.path / "checkpoints"
    if (run_dir.path / RECORD).is_file() and adapter.is_dir():
        record = run_dir.read_json(RECORD)
        if record.get("key") == key:
            return Training(**record["training"])
    (checkpoints / key).mkdir(parents=True, exist_ok=True)
    release()  # the model that scored before: the child needs the memory
    job = Job(settings, base, backend, rows, held_out, checkpoints / key, adapter)
    training = train_apart(job, watch)
    run_dir.write_json(RECORD, {"key": key, "training": asdict(training)})
    shutil.rmtree(checkpoints)
    return training


def discard(run_dir: RunDir) -> None:
    """Have the next ``fit`` begin anew; an adapter stays until there is another."""
    (run_dir.path / RECORD).unlink(missing_ok=True)
    shutil.rmtree(run_dir.path / "checkpoints", ignore_errors=True)


def release() -> None:
    """Give back the memory of a model that is no longer in use."""
    gc.collect()
    torch = require("torch", extra="local")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def train_apart(job: Job, watch: Watch) -> Training:
    """Carry out a job in a child process, which ends with this one however this one ends.

    The child finds this judgelab first, and leaves unsloth's generated code among checkpoints.
    JudgelabError: it refused the job, or was killed. RuntimeError: it failed otherwise.
    """
    command = [sys.executable, "-m", "judgelab.finetune.child", job.backend]
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    generated = str((job.checkpoints / "unsloth_compiled_cache").resolve())
    environment = {"UNSLOTH_COMPILE_LOCATION": generated, **os.environ, "PYTHONPATH": path}
    if job.settings.device_map is None:  # else the user says where, or spreads it on purpose
        devices = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
        environment["CUDA_VISIBLE_DEVICES"] = devices.partition(",")[0]
    training, code = carry(command, job, environment, watch)
    if training is None:
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        raise JudgelabError(
            f"The training process ended early ({cause}); often memory is short: lower "
            "study.settings.batch or max_seq_length, or set gradient_checkpointing=true. The same "
            "command continues from the last checkpoint."
        )
    return Training(**training)


def carry(
    command: Sequence[str], job: object, environment: Mapping[str, str], watch: Watch
) -> tuple[dict[str, Any] | None, int]:
    """The training that a child process reported, if it did, and its exit code.

    Whatever it starts in its session (workers of a data loader, a compiler) is killed with it, also
    where it ends by itself: such a process may hold the pipe of events, which then never ends.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
    ) as child:
        assert child.stdin is not None
        threading.Thread(target=_kill_with, args=(child,), daemon=True).start()
        try:
            with suppress(BrokenPipeError):  # it ended before it was asked; an event says why
                pickle.dump(job, child.stdin)
                child.stdin.flush()
            training = _follow(child, watch)
            with suppress(BrokenPipeError):
                child.stdin.close()
            code = child.wait()
        finally:
            _kill_group(child)
    return training, code


def _kill_with(child: subprocess.Popen[bytes]) -> None:
    child.wait()
    _kill_group(child)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # no process is left
        os.killpg(child.pid, signal.SIGKILL)


def _follow(child: subprocess.Popen[bytes], watch: Watch) -> dict[str, Any] | None:
    """Pass events on up to the last one; the training, if one was reported."""
    for line in child.stdout or ():
        kind, value = json.loads(line)
        if kind == "done":
            training: dict[str, Any] = value
            return training
        if kind == "refused":
            refusal: type[JudgelabError] = getattr(errors, value["error"], ConfigError)
            raise refusal(value["message"])
        if kind == "failed":
            fault = RuntimeError(f"in the training process: {value['message']}")
            fault.add_note(value["traceback"])
            raise fault
        watch[kind](value)
    return None
