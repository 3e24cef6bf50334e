"""A multirun, start to end: a folder and a name, jobs that end with it, the comparison and where it
is shown.

Hydra builds the callback at the start of every command, so nothing heavy is imported here.
"""

from __future__ import annotations

import sys
import traceback
from itertools import count
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict

from judgelab.config.composing import written
from judgelab.config.launch import sentence
from judgelab.core.terminal import say
from judgelab.engine.sweep import SweepName, become_parent
from judgelab.store.private import hold, private_folder


class Multirun(Callback):
    """Prints, writes and mirrors the comparison of the runs; the exit code is that of the worst."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Take a folder for this sweep alone, and forget the jobs of an earlier one in it.

        Raises:
            JudgelabError: another process is running a sweep in the folder that was named.
        """
        folder = Path(config.hydra.sweep.dir)
        written_as: Any = OmegaConf.to_container(config.hydra.sweep)  # interpolations as they are
        named = "${now:" not in written_as["dir"]
        if not named:
            folder = _new_folder(folder)
            with open_dict(config):
                config.hydra.sweep.dir = str(folder)
                # jobs are composed anew, from the words of the command line
                config.hydra.overrides.hydra.append(f"hydra.sweep.dir={written(str(folder))}")
        private_folder(folder)
        self._lock = hold(folder, f"Another sweep is running in {folder}: wait for it.")
        for note in folder.glob("*/job.json"):
            note.unlink()
        SweepName.of(config, named=named).write(folder)
        become_parent(config)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Compare the jobs of the sweep, and show the comparison where its runs are shown.

        Raises:
            SystemExit: 1 where a job failed, or the comparison itself did (Hydra would only warn);
                3 where a job is partial.
        """
        if config.get("dry_run") is True:  # every job has said what it would ask
            return
        from judgelab.report.sweep import conclude

        folder = Path(config.hydra.sweep.dir)
        try:
            code = conclude(folder)
            if "tracker" in config:  # a list of trackers names none for all jobs
                _mirror(config, folder)
        except Exception as cause:
            if config.get("debug"):
                traceback.print_exc()
            say(f"error: no comparison of the sweep: {sentence(cause)}", sys.stderr)
            raise SystemExit(1) from cause
        if code:
            raise SystemExit(code)


def _mirror(config: DictConfig, folder: Path) -> None:
    from judgelab.config import build
    from judgelab.config.targets import named_by_user, trusting
    from judgelab.engine.mirroring import compare

    HydraConfig.instance().set_config(config)  # whose words say which packages the user trusts
    node: Any = OmegaConf.to_container(config.tracker, resolve=True)
    with trusting(named_by_user(list(config.get("trusted_packages") or ()), ())):
        compare(build(node, "tracker"), folder)


def _new_folder(named: Path) -> Path:
    """The folder of that name, or one beside it: sweeps of one second do not share theirs."""
    private_folder(named.parent)
    folder, number = named, count(2)
    while True:
        try:
            folder.mkdir(mode=0o700)
            return folder
        except FileExistsError:
            folder = named.with_name(f"{named.name}-{next(number)}")
