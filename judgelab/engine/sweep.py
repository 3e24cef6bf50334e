"""What a job knows of the multirun it belongs to: its name, and whether the process that started it
is still there."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from judgelab.store.fingerprint import VOLATILE
from judgelab.store.private import is_locked
from judgelab.store.run_dir import RunDir

NAME, PARENT = "sweep.json", ".parent"  # files of a sweep's folder
LONGEST = 100  # characters of a name; W&B refuses groups of more than 128
LOOK = 0.1  # seconds between looks for the parent while nothing is asked
GRACE = 0.25  # seconds to write what the last calls brought


@dataclass(frozen=True)
class SweepName:
    """What a multirun is called and what its jobs differ in: written at its start, read by its
    jobs.

    The name is the folder's, where the user named it. Else it is the paper's sweep, or what is
    varied and on which data, with six digits that are the same whenever the same sweep runs again:
    so one that was interrupted continues in its group.
    """

    name: str
    varies: tuple[str, ...]  # keys of the settings that its jobs differ in

    @classmethod
    def of(cls, config: DictConfig, *, has_name: bool) -> SweepName:
        """Of the config that Hydra composed for a multirun, with its node ``hydra``; ``has_name``
        where the user chose the folder."""
        task: list[str] = list(OmegaConf.select(config, "hydra.overrides.task") or ())
        params: Any = OmegaConf.select(config, "hydra.sweeper.params") or {}
        task += [f"{key}={value}" for key, value in params.items()]
        overrides = OverridesParser.create().parse_overrides(task)
        keyed = [(one.get_key_element().lstrip("+~"), one) for one in overrides]
        # all that can change a number
        settings = [(key, one) for key, one in keyed if key.partition(".")[0] not in VOLATILE]
        varies = tuple(key for key, one in settings if one.is_sweep_override())
        if has_name:
            return cls(Path(config.hydra.sweep.dir).name, varies)
        choices = OmegaConf.select(config, "hydra.runtime.choices") or {}
        words = choices.get("sweep") or " × ".join(key.rpartition(".")[2] for key in varies)
        if not choices.get("sweep") and "dataset" not in varies:
            words = f"{words} on {choices.get('dataset')}" if words else str(choices.get("dataset"))
        whole = json.dumps([words, *sorted(str(one.input_line) for _, one in settings)])
        digits = hashlib.sha256(whole.encode()).hexdigest()[:6]
        return cls(f"{words[:LONGEST]} {digits}", varies)

    @classmethod
    def read(cls, folder: Path) -> SweepName:
        """As ``write`` left it."""
        content = RunDir(folder).read_json(NAME)
        return cls(content["name"], tuple(content["varies"]))

    def write(self, folder: Path) -> None:
        """For the jobs, which may run in other processes."""
        RunDir(folder).write_json(NAME, asdict(self))


def become_parent(config: DictConfig) -> None:
    """Keep a new file in the sweep's folder locked for as long as this process lives: its jobs end
    with it, kill -9 included. Not on Slurm, whose jobs end by its own rules, and on other
    machines."""
    if "slurm" in str(config.hydra.launcher.get("_target_")).lower():
        return
    path = Path(config.hydra.sweep.dir) / PARENT
    path.unlink(missing_ok=True)  # so that jobs of an earlier sweep there are not fooled
    fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)


class ParentWatch:
    """Ends this process when that of its sweep is gone, and what is under way was waited for, so
    that no reply that was paid is lost; ``busy`` says how many calls are under way."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.busy: Callable[[], int] = lambda: 0
        threading.Thread(target=self._watch, name="parent", daemon=True).start()

    def gone(self) -> bool:
        """Whether it is; takes some microseconds."""
        return not is_locked(self._handle)

    def _watch(self) -> None:
        while not self.gone() or self.busy():
            time.sleep(LOOK)
        time.sleep(GRACE)
        os._exit(1)


@lru_cache(maxsize=1)  # once a process
def watch_parent(sweep: Path) -> ParentWatch | None:
    """A watch over the parent of a sweep; None where its jobs are their own masters."""
    try:
        return ParentWatch(os.open(sweep / PARENT, os.O_RDONLY))
    except FileNotFoundError:
        return None
