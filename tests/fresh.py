"""``python run.py`` in a process of its own that spares the imports: a copy of one that has them.

It has its own session, environment, folder, files and exit code, and can be killed. A test of what
is imported, of secrets that imports read, or of the interpreter starts Python itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMPORTED = (
    *("openai", "judgelab.config.launch", "judgelab.engine.run", "judgelab.engine.multirun"),
    *("judgelab.study.discrimination", "judgelab.evaluation_lm.openai", "judgelab.agents.rules"),
    *("judgelab.evaluation_lm.compression", "judgelab.mechanism.mi", "judgelab.mechanism.judge"),
    *("judgelab.mechanism.tvd_mi", "judgelab.report.page", "judgelab.report.sweep"),
    *("matplotlib.backends.backend_agg", "matplotlib.figure", "rich.console", "jinja2"),
)
"""What runs import that tests start."""
SKETCH = {"png": b"\x89PNG", "svg": b'<svg viewBox="0 0 1 1"></svg>'}
"""What stands for figures, which are drawn, where a test does not look at them."""


def environment(folder: Path) -> dict[str, str]:
    """No home, no credentials, no network, results below ``folder``."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "HF_"))}
    return env | {
        "JUDGELAB_ROOT": str(folder),
        "HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "200",
        "OMP_NUM_THREADS": "1",
    }


class Fresh:
    """The command with these words, as subprocess.Popen has it; ``output`` is what it says.

    ``place``: the folder (``cwd``) and the ``umask`` that it starts with.
    """

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], output: Path, **place: Any
    ) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        self.pid, _ = _ask(words=[*words], env={**env}, output=str(output), **place)
        self.returncode: int | None = None
        self.megabytes = 0  # at its peak, once it has ended

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode, self.megabytes = _ask(ended=self.pid)
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        limit = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired("run.py", timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def original() -> subprocess.Popen[str]:
    """The process that is copied, for as long as this one lasts."""
    command, pipe = [sys.executable, "-m", "tests.fresh"], subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    atexit.register(process.communicate)
    return process


def _ask(**what: Any) -> Any:
    to, back = original().stdin, original().stdout
    assert to is not None and back is not None
    print(json.dumps(what), file=to, flush=True)
    return json.loads(back.readline())


def serve() -> None:
    """Make a copy for each job that is asked for, and say how copies ended."""
    for name in IMPORTED:
        importlib.import_module(name)
    vars(sys.modules["judgelab.report.style"])["image_bytes"] = lambda figure, kind: SKETCH[kind]
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        if "ended" in asked:
            process, status, used = os.wait4(asked["ended"], os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if process else None
            answer = code, used.ru_maxrss // 1024
        elif (process := os.fork()) == 0:
            become(**asked)
            return
        else:
            answer = process, 0
        print(json.dumps(answer), flush=True)


def become(
    words: list[str], env: dict[str, str], output: str, cwd: str = str(ROOT), umask: int = 0o022
) -> None:
    """Run the command in this process, whose exit is the command's."""
    os.setsid()
    os.umask(umask)
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.dup2(said, 1), 2)
    os.environ.clear()
    os.environ |= env
    sys.argv = [str(ROOT / "run.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    serve()
