"""Jobs of a sweep end with the process that started it, kill -9 included."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from judgelab.store.private import locked

FILE = ".parent"
LOOK = 0.1  # seconds between looks while nothing is asked
GRACE = 0.25  # seconds to write what the last calls brought


class Parent(Callback):
    """Keeps a file in the sweep's folder locked for as long as the sweep's process lives.

    Not on Slurm, whose jobs end by its own rules, and on other machines.
    """

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Lock it: a new one each time, so that jobs of an earlier sweep there are not fooled."""
        if "slurm" in str(config.hydra.launcher.get("_target_")).lower():
            return
        path = Path(config.hydra.sweep.dir) / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)


def nobody() -> bool:
    """Whether the parent of a run that has none is gone."""
    return False


class ParentWatch:
    """Looks whether the process of a sweep is there, and ends this one when it is not.

    What is under way is waited for, so that no reply that was paid is lost.

    Attributes:
        busy: how many calls are under way.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.busy: Callable[[], int] = lambda: 0
        threading.Thread(target=self._watch, name="parent", daemon=True).start()

    def gone(self) -> bool:
        """Whether it is; takes some microseconds."""
        return not locked(self._handle)

    def _watch(self) -> None:
        while not self.gone() or self.busy():
            time.sleep(LOOK)
        time.sleep(GRACE)
        os._exit(1)


@lru_cache(maxsize=1)  # once a process
def watch(sweep: Path) -> ParentWatch | None:
    """ParentWatch over the parent of a sweep; None where its jobs are their own masters."""
    try:
        return ParentWatch(os.open(sweep / FILE, os.O_RDONLY))
    except FileNotFoundError:
        return None
