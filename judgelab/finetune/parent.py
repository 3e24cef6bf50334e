"""Training in a process of its own, seen from the run that wants it."""

from __future__ import annotations

import json
import os
import pickle
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from judgelab.core import errors
from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.core.resources import PACKAGE
from judgelab.finetune.watch import TrainingProgress

if TYPE_CHECKING:
    from judgelab.finetune.job import Job
    from judgelab.finetune.train import Training

SECONDS = 0.5  # between two looks at whether a child that says nothing is still there


def train_apart(job: Job, progress: TrainingProgress) -> Training:
    """Carry out a job in a child process, which ends with this one however this one ends.

    Args:
        job: what to train.
        progress: is told how far it is.

    Raises:
        JudgelabError: the child refused the job, or was killed.
        RuntimeError: it failed otherwise; a note holds its traceback.
    """
    command = [sys.executable, "-m", "judgelab.finetune.child", job.backend]
    done, code = carried(command, job, _environment(job), progress)
    if done is None:
        raise _ended(code)
    from judgelab.finetune.train import Training

    return Training(**{**done, "curve": tuple(done["curve"])})


def carried(
    command: Sequence[str], job: object, environment: Mapping[str, str], progress: TrainingProgress
) -> tuple[dict[str, Any] | None, int]:
    """The training that a child process reported, None where it reported none, and its exit code.

    The child has a session of its own. Whatever it starts there (workers of a data loader, a
    compiler) is killed with it, also where it ends by itself.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
    ) as child:
        assert child.stdin is not None
        try:
            try:
                pickle.dump(job, child.stdin)
                child.stdin.flush()
            except BrokenPipeError:
                pass  # it ended before it was asked; its last event says why
            done = _follow(child, progress)
            with suppress(BrokenPipeError):
                child.stdin.close()
            code = child.wait()
        finally:
            with suppress(ProcessLookupError, PermissionError):  # nobody left, on Linux and macOS
                os.killpg(child.pid, signal.SIGKILL)
    return done, code


def _follow(child: subprocess.Popen[bytes], progress: TrainingProgress) -> dict[str, Any] | None:
    """Pass events on until the child has ended; the training, if one was reported."""
    done: dict[str, Any] | None = None
    for line in _lines(child):
        event = json.loads(line)
        kind = event.pop("kind")
        if kind == "begin":
            progress.begin(event["step"], event["steps"])
        elif kind == "at":
            progress.at(event["step"], event["loss"])
        elif kind == "point":
            progress.point(event["row"])
        elif kind == "done":
            done = event["training"]
        else:
            raise _fault(kind, event)
    return done


def _lines(child: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Its output's lines. What it started may hold the pipe open after it: that ends nothing."""
    assert child.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            ended = child.poll() is not None  # asked first: what it wrote is in the pipe by then
            if not selector.select(0 if ended else SECONDS):
                if ended:
                    return
                continue
            read = os.read(child.stdout.fileno(), 1 << 16)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            yield from lines


def _fault(kind: str, event: Mapping[str, str]) -> Exception:
    if kind == "refused":
        found: type[JudgelabError] = getattr(errors, event["error"], ConfigError)
        return found(event["message"])
    fault = RuntimeError(f"in the training process: {event['message']}")
    fault.add_note(event["traceback"])
    return fault


def _ended(code: int) -> JudgelabError:
    name = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return JudgelabError(
        f"The training process ended early ({name}); often memory is short: lower "
        "study.settings.batch or max_seq_length, or set gradient_checkpointing=true. The same "
        "command continues from the last checkpoint."
    )


def _environment(job: Job) -> dict[str, str]:
    """This process's, with this judgelab first, and unsloth's generated code among checkpoints."""
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    generated = str((job.checkpoints / "unsloth_compiled_cache").resolve())
    return {"UNSLOTH_COMPILE_LOCATION": generated, **os.environ, "PYTHONPATH": path}
