"""The process that trains, and nothing else.

unsloth must be imported before transformers, and replaces the forward methods of its classes for
the whole process: scored there, a model would not be the one that a later run scores. So whatever
trains, by either back end, trains here; the parent scores before and after. ``python -m
judgelab.finetune.child BACKEND`` reads a pickled ``Job`` from stdin and writes events, one JSON
object a line, to stdout. It ends when its parent does, with whatever it has started: stdin is
closed then.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sys
import threading
import traceback
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from judgelab.core.errors import ConfigError, JudgelabError

if TYPE_CHECKING:
    from judgelab.finetune.fit import Job, Send, Training
    from judgelab.finetune.settings import Settings
    from judgelab.scoring.source import ModelSource


def main() -> int:
    """Train what stdin asks for; returns the exit code."""
    send = partial(_send, _own_stdout())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    try:
        if sys.argv[1] == "unsloth":
            _import_unsloth()
        job: Job = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
        send(kind="done", training=asdict(carry_out(job, send)))
    except JudgelabError as cause:
        send(kind="refused", error=type(cause).__name__, message=str(cause))
        return 1
    except Exception as cause:
        message = f"{type(cause).__name__}: {cause}"
        send(kind="failed", message=message, traceback=traceback.format_exc())
        return 1
    return 0


def carry_out(job: Job, send: Send) -> Training:
    """Train from the last whole checkpoint, if any, and leave the adapter."""
    from judgelab.finetune.base import load

    loaded = load(job.settings, job.base.folder, job.backend)
    from judgelab.finetune.train import train  # after the base: unsloth comes before transformers

    training = train(loaded, job, send)
    _save(loaded.model, job.settings, job.base, job.adapter)
    return training


def _send(stream: TextIO, **event: Any) -> None:
    print(json.dumps(event), file=stream, flush=True)


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


def _own_stdout() -> TextIO:
    """The pipe to the parent; what libraries print goes to stderr instead."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return stream


def _end_with_the_parent() -> None:
    while os.read(0, 1):
        pass
    if os.getpgrp() == os.getpid():  # the parent gave it a group of its own
        os.killpg(0, signal.SIGKILL)  # with every process that it has started
    os._exit(1)


def _import_unsloth() -> None:
    """Import it first, whatever else will be imported."""
    os.environ.setdefault("UNSLOTH_DISABLE_STATISTICS", "1")  # it would call home at every load
    try:
        import unsloth  # noqa: F401
    except (ImportError, NotImplementedError) as cause:  # it is not here, or finds no accelerator
        reason = " ".join(str(cause).split())[:300]
        raise ConfigError(
            f"study.settings.backend=unsloth: unsloth cannot be imported here ({reason}). Install "
            "it as constraints-unsloth.txt says, or set study.settings.backend=peft."
        ) from cause


if __name__ == "__main__":
    sys.exit(main())
