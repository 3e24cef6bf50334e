"""A multirun, start to end: a folder and a name, jobs that end with it, the comparison and where it
is shown."""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict

from judgelab.config import build
from judgelab.config.composing import literal
from judgelab.config.launch import sentence
from judgelab.config.targets import named_by_user, trusting
from judgelab.core.result import Result, Table
from judgelab.core.terminal import say
from judgelab.engine.sweep import SweepName, become_parent
from judgelab.report.format import records
from judgelab.report.jobs import axes, comparisons, job_name, jobs, setting
from judgelab.report.sweep import answer, best_first, conclude, table
from judgelab.store.private import hold, private_folder
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import SHOWN, TrackedSweep, Tracker, bars, carefully, in_words


class Multirun(Callback):
    """Prints, writes and mirrors the comparison of the runs; the exit code is that of the worst."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Take a folder for this sweep alone, and forget the jobs of an earlier one in it
        (JudgelabError: another process is running a sweep in the folder that was named)."""
        folder = Path(config.hydra.sweep.dir)
        written_as: Any = OmegaConf.to_container(config.hydra.sweep)  # interpolations as they are
        has_name = "${now:" not in written_as["dir"]
        if not has_name:
            folder = _new_folder(folder)
            with open_dict(config):
                config.hydra.sweep.dir = str(folder)
                # jobs are composed anew, from the words of the command line
                config.hydra.overrides.hydra.append(f"hydra.sweep.dir={literal(str(folder))}")
        private_folder(folder)
        self._lock = hold(folder, f"Another sweep is running in {folder}: wait for it.")
        for note in folder.glob("*/job.json"):
            note.unlink()
        SweepName.of(config, has_name=has_name).write(folder)
        become_parent(config)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Compare the jobs of the sweep, and show that where its runs are shown; the exit code is 1
        where a job or the comparison failed (Hydra would only warn), 3 where a job is partial."""
        if config.get("dry_run") is True:  # every job has said what it would ask
            return
        folder = Path(config.hydra.sweep.dir)
        try:
            code = conclude(folder)
            if "tracker" in config:  # a list of trackers names none for all jobs
                HydraConfig.instance().set_config(config)  # whose words say whom the user trusts
                node: Any = OmegaConf.to_container(config.tracker, resolve=True)
                with trusting(named_by_user(list(config.get("trusted_packages") or ()), ())):
                    compare(build(node, "tracker"), folder)
        except Exception as cause:
            if config.get("debug"):
                traceback.print_exc()
            say(f"error: no comparison of the sweep: {sentence(cause)}", sys.stderr)
            raise SystemExit(1) from cause
        if code:
            raise SystemExit(code)


def _new_folder(first: Path) -> Path:
    """The folder of that name, or one beside it: sweeps of one second do not share theirs."""
    private_folder(first.parent)
    folder, number = first, count(2)
    while True:
        try:
            folder.mkdir(mode=0o700)
            return folder
        except FileExistsError:
            folder = first.with_name(f"{first.name}-{next(number)}")


def compare(tracker: Tracker, folder: Path) -> str | None:
    """Publish a finished sweep, whose page is written, as one thing; None: it shows none."""
    return carefully(
        lambda: tracker.compare(tracked_sweep(folder)), "the comparison is kept on disk"
    )


def tracked_sweep(folder: Path) -> TrackedSweep:
    """What lies in the folder of a finished sweep."""
    name, in_rank = SweepName.read(folder), best_first(jobs(folder))
    keys, sections, data = name.varies or axes(in_rank), comparisons(in_rank), table(in_rank)
    data.insert(1, "name", [job_name(job, keys) for job in in_rank])
    manifests = [RunDir(job.run).read_json("manifest.json") if job.run else {} for job in in_rank]
    data["tracker"] = [one.get("tracker") for one in manifests]
    frames = {"comparison": data} | {one.name: one.rows for one in sections if one.tables}
    plain = {name: rows.astype(object).where(rows.notna(), None) for name, rows in frames.items()}
    figure_rows = [
        row
        for job, called in zip(in_rank, data["name"], strict=True)
        if job.run is not None
        for row in bars(Result.read(job.run), called, {axis: setting(job, axis) for axis in SHOWN})
    ]
    in_order = sorted(in_rank, key=lambda job: job.number)
    words = Counter(job.status.partition(":")[0] for job in in_rank)
    return TrackedSweep(
        folder=folder,
        name=name.name,
        axes={key: list(dict.fromkeys(setting(job, key) for job in in_order)) for key in keys},
        tables=[
            *(Table(name, name, records(rows)) for name, rows in plain.items()),
            Table("all_bars", "Figures with intervals", figure_rows),
        ],
        summary=in_words(answer(in_rank, sections))
        | {"jobs": len(in_rank)}
        | dict(sorted(words.items())),
    )
