"""Running the command line as a user does, with everything written below a temporary folder."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hydra.core.hydra_config import HydraConfig

from judgelab.__main__ import main
from judgelab.config.composing import composed_call
from judgelab.engine.execution import Invocation
from judgelab.engine.run import carry_out
from tests.fresh import ROOT, Fresh, environment

Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]


def process(root: Path, command: list[str], cwd: Path = ROOT, **env: str) -> Done:
    """A command as its user gives it, where the process is tested: imports, secrets, folders."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment(root) | env,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def inside(root: Path, job: Sequence[str]) -> None:
    """One run in this process, whose faults are raised as they are."""
    config, hydra = composed_call([*job, f"paths.root={root}"])
    carry_out(config, Invocation(choices=hydra.runtime.choices))


def started(root: Path, job: Sequence[str], **env: str) -> Fresh:
    """run.py in a process of its own, to be killed; what it says is in ``root/log``."""
    return Fresh([*job, f"paths.root={root}"], environment(root) | env, root / "log")


@pytest.fixture(scope="module")
def training_here() -> Iterator[None]:
    """Training in this process, on one thread: the imports of one of its own take seconds."""
    import torch

    from judgelab.finetune import child, fit

    def train(job: fit.Job, watch: fit.Watch) -> fit.Training:
        return child.carry_out(job, lambda kind, value: watch[kind](value))

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    gc.freeze()  # training collects garbage often, and what was imported is none
    with patch.object(fit, "train_apart", train):
        yield
    gc.unfreeze()
    torch.set_num_threads(before)


def trainers(run: int) -> list[int]:
    """Processes that train for a run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = next(x for x in status.read_text().splitlines() if x.startswith("PPid"))
            line = (status.parent / "cmdline").read_bytes()
        except (OSError, StopIteration):
            continue
        if int(parent.split()[1]) == run and b"judgelab.finetune.child" in line:
            found.append(int(status.parent.name))
    return found


def only_run(root: Path) -> Path:
    """The folder of the one run below a root."""
    [folder] = (root / "runs").iterdir()
    return folder


def result(root: Path) -> dict[str, Any]:
    """Of the one run below a root."""
    content: dict[str, Any] = json.loads((only_run(root) / "result.json").read_text())
    return content


def cached_calls(root: Path) -> int:
    """Log-probabilities that the cache of a root holds; 0 before there is one."""
    path = root / "cache" / "calls.sqlite"
    if not path.is_file():
        return 0
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(db.execute("SELECT count(*) FROM answer").fetchone()[0])
    except sqlite3.OperationalError:  # not yet created
        return 0
    finally:
        db.close()


def command_line(root: Path, *words: str) -> Done:
    """What ``python run.py`` does with these words, in this process: a start costs seconds."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    known, handler = HydraConfig.instance().cfg, signal.getsignal(signal.SIGTERM)
    with (
        patch.dict(os.environ, environment(root), clear=True),
        patch.object(sys, "argv", ["run.py", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:  # Hydra's account of the command and judgelab's handler would outlive it
            HydraConfig.instance().cfg = known
            signal.signal(signal.SIGTERM, handler)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@pytest.fixture
def judgelab(tmp_path: Path) -> Command:
    """``judgelab("mechanism=mi", ...)`` runs run.py with these overrides."""
    return lambda *words, root=tmp_path: command_line(root, *words)
