"""A multirun, start to end: a folder and a name, then the comparison and where it is shown.

Hydra builds the callback at the start of every command, so nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict

from judgelab.config.composing import written
from judgelab.config.launch import sentence
from judgelab.core.terminal import say
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.private import hold, private_folder
from judgelab.store.run_dir import RunDir

FILE = "sweep.json"
LONGEST = 100  # characters of a name; W&B refuses groups of more than 128


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
            if OmegaConf.select(config, "debug.traceback"):
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


@dataclass(frozen=True)
class SweepName:
    """What a multirun is called and what its jobs differ in: written at its start, read by its
    jobs.
    """

    # the folder's, where the user named it. Else the paper's sweep, or what is varied and on which
    # data, with six digits that are the same whenever the same sweep runs again: so one that was
    # interrupted continues in its group.
    name: str
    varies: tuple[str, ...]  # keys of the settings that its jobs differ in

    @classmethod
    def of(cls, config: DictConfig, *, named: bool) -> SweepName:
        """Of the config that Hydra composed for a multirun.

        Args:
            config: with the node ``hydra``.
            named: whether the user chose the folder.
        """
        given = list(_settings(config))
        varies = [key for key, _, many in given if many]
        if named:
            return cls(Path(config.hydra.sweep.dir).name, tuple(varies))
        chosen = OmegaConf.select(config, "hydra.runtime.choices") or {}
        said = chosen.get("sweep") or " × ".join(key.rpartition(".")[2] for key in varies)
        if not chosen.get("sweep") and "dataset" not in varies:
            said = f"{said} on {chosen.get('dataset')}" if said else str(chosen.get("dataset"))
        kept = json.dumps([said, *sorted(words for _, words, _ in given)])
        digits = hashlib.sha256(kept.encode()).hexdigest()[:6]
        return cls(f"{said[:LONGEST]} {digits}", tuple(varies))

    @classmethod
    def read(cls, folder: Path) -> SweepName:
        """As ``write`` left it; by its folder's name, where it did not."""
        try:
            found = json.loads((folder / FILE).read_text(encoding="utf-8"))
            return cls(found["name"], tuple(found["varies"]))
        except (OSError, ValueError):
            return cls(folder.name, ())

    def write(self, folder: Path) -> None:
        """For the jobs, which may run in other processes."""
        RunDir(folder).write_json(FILE, asdict(self))


def _settings(config: DictConfig) -> Iterator[tuple[str, str, bool]]:
    """(key, its words, whether there are several values), of all that can change a number."""
    words: list[str] = list(OmegaConf.select(config, "hydra.overrides.task") or ())
    params: Any = OmegaConf.select(config, "hydra.sweeper.params") or {}
    words += [f"{key}={value}" for key, value in params.items()]
    for one in OverridesParser.create().parse_overrides(words):
        key = one.get_key_element().lstrip("+~")
        if key.partition(".")[0] not in VOLATILE:
            yield key, str(one.input_line), one.is_sweep_override()
