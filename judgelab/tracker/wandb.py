"""Weights & Biases: config, summary, tables, figures and artifacts; a sweep is a group.

Curves arrive while the run goes on, everything else when it has finished.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from judgelab.core.errors import JudgelabError, require
from judgelab.core.result import Result, Table, plain
from judgelab.core.terminal import say
from judgelab.tracker.headline import bars, headline, in_words
from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep
from judgelab.tracker.wandb_artifacts import (
    data_artifact,
    declare_inputs,
    report_artifact,
    run_artifact,
    without_places,
)
from judgelab.tracker.wandb_open import Destination, OpenRun, credentials_mode, open_run

COMMAND = "python -m judgelab.tracker.dashboard"


@dataclass(frozen=True)
class WandbTracker:
    """Online where credentials exist, else offline; never asks, never stops a run.

    Args:
        project, entity: where the run goes.
        mode: auto looks for WANDB_MODE, then for a key in WANDB_API_KEY or the netrc file.
        texts: whether the artifact holds the responses, whole replies, people's single labels and
            the command line too; off, so that none of it leaves unasked.
        timeout: seconds to wait for the server before the run is kept offline instead.
        dashboard: save the project's workspace too, and a report of a sweep (extra ``dashboard``);
            as ``python -m judgelab.tracker.dashboard`` does at any time.
    """

    project: str = "judgelab"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    texts: bool = False
    timeout: float = 20.0
    dashboard: bool = False

    @property
    def destination(self) -> Destination:
        """Where runs go, with the mode that credentials allow."""
        mode = credentials_mode() if self.mode == "auto" else self.mode
        if find_spec("wandb") is None:
            _warn_once(mode)
            mode = "disabled"
        return Destination(self.project, self.entity, mode, self.timeout)

    def follow(self, run: TrackedRun) -> WandbMirror:
        """A mirror that opens its W&B run at the first point, or when the run has finished."""
        return WandbMirror(self, run)

    def compare(self, sweep: TrackedSweep) -> str | None:
        """A run of its own in the sweep's group: the comparison, its figures and its page.

        Its inputs are the data and the runs that are compared, its output is the page.
        """
        if self.destination.mode == "disabled":
            return None
        opened = open_run(
            self.destination,
            sweep.folder.parent.parent,
            name=sweep.name,
            group=sweep.name,
            job_type="sweep",
            tags=["sweep", *sweep.axes],
            config={"sweep": sweep.name, "axes": {k: list(v) for k, v in sweep.axes.items()}},
        )
        try:
            _log_sweep(opened.run, sweep, self.texts)
        except BaseException:
            opened.run.finish(exit_code=1)
            raise
        place = opened.place
        opened.run.finish()
        return place + (_dashboard(opened, self.project, [sweep.name]) if self.dashboard else "")


@cache
def _warn_once(mode: str) -> None:
    if mode != "disabled":
        say("Nothing is tracked: wandb is not installed (pip install -e '.[wandb]').", sys.stderr)


class WandbMirror(Mirror):
    """One W&B run.

    A run that was killed and continues has another W&B run, whose curve begins anew at step 0; the
    first one keeps what it had.
    """

    def __init__(self, tracker: WandbTracker, run: TrackedRun) -> None:
        self._to, self._texts, self._run = tracker.destination, tracker.texts, run
        self._dashboard = tracker.dashboard and run.sweep is None  # that of a sweep is made last
        self._opened: OpenRun | None = None
        self._sent: set[tuple[str, float, str]] = set()

    @property
    def home(self) -> tuple[str, str, str] | None:
        """Entity, project and id of the W&B run where a server took it; else None."""
        if self._opened is None or not self._opened.online or not self._opened.run.entity:
            return None
        run = self._opened.run
        return str(run.entity), str(run.project), str(run.id)

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """Sent at once, unless W&B is disabled."""
        if self._to.mode != "disabled":
            self._curve(self._open().run, curve, [row])

    def publish(self, result: Result) -> str | None:
        """Returns its address, or the folder that ``wandb sync`` takes."""
        if self._to.mode == "disabled":
            return None
        opened = self._open(str(result.summary.get("study", "run")))
        try:
            _log(opened.run, self._run, result, self._texts)
            for table in result.tables:
                self._curve(opened.run, table.name, table.rows)
        except BaseException:
            self.close()  # else W&B takes the next run of a sweep for this one
            raise
        place = opened.place
        opened.run.finish()
        return place + (_dashboard(opened, self._to.project, []) if self._dashboard else "")

    def close(self) -> None:
        """W&B shows the run as failed."""
        if self._opened is not None:
            self._opened.run.finish(exit_code=1)

    def _open(self, kind: str | None = None) -> OpenRun:
        """The W&B run, begun when it is first asked for."""
        if self._opened is None:
            run = self._run
            config = run.config if self._texts else without_places(run.config)
            study = str(run.config.get("study", {}).get("_target_", ".run.")).split(".")[-2]
            self._opened = open_run(
                self._to,
                run.folder.parent.parent,
                name=run.name,
                group=run.sweep,
                job_type=kind or study,
                tags=[f"{axis}:{option}" for axis, option in run.axes.items()],
                config={**config, "axes": dict(run.axes), "run": run.folder.name},
            )
        return self._opened

    def _curve(self, mirror: Any, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Every other number of a table with a column ``step`` is a curve over it."""
        if not rows or "step" not in rows[0]:
            return
        axis = f"{name}/step"
        if all(curve != name for curve, _, _ in self._sent):
            mirror.define_metric(axis, hidden=True)
            mirror.define_metric(f"{name}/*", step_metric=axis)
        for row in rows:
            known = {k: v for k, v in plain(row).items() if isinstance(v, int | float)}
            new = {k for k in known if k != "step" and (name, row["step"], k) not in self._sent}
            if new:
                self._sent |= {(name, row["step"], k) for k in new}
                mirror.log({f"{name}/{k}": v for k, v in known.items() if k in {*new, "step"}})


def _dashboard(opened: OpenRun, project: str, sweeps: Sequence[str]) -> str:
    """Save a dashboard and say where it is, or why there is none: the run is kept either way."""
    from judgelab.tracker.dashboard import save

    if not opened.online:
        return f" (no dashboard offline: after wandb sync, {COMMAND} {project})"
    try:
        return f", dashboard: {', '.join(save(opened.run.entity, project, sweeps))}"
    except JudgelabError as cause:
        return f" (no dashboard: {cause})"


def _log(mirror: Any, run: TrackedRun, result: Result, texts: bool) -> None:
    """Everything but curves, of one run."""
    summary, by = result.summary, (result.primary, result.headlines)
    first = headline(summary, *by)
    told = {**in_words(result.answer, result.title), **summary, **first, "run": run.folder.name}
    mirror.summary.update(plain(told))
    if result.estimators:
        mirror.summary["estimator"] = "; ".join(one.line for one in result.estimators)
        found = [asdict(one) for one in result.estimators]  # runs are filtered by the config
        numbered = {str(number): one for number, one in enumerate(found)}
        mirror.config.update({"estimator": found[0] if len(found) == 1 else numbered})
    drawn = bars(summary, *by, run.name, run.axes)
    _log_tables(mirror, [*result.tables, Table("bars", "Figures with intervals", drawn)])
    _log_figures(mirror, run.folder)
    data = data_artifact(result.provenance)
    declare_inputs(mirror, [] if data is None else [data])
    mirror.log_artifact(run_artifact(run.folder, result, texts))


def _log_sweep(mirror: Any, sweep: TrackedSweep, texts: bool) -> None:
    """The comparison, what it was made from and what it made."""
    wandb = require("wandb", extra="wandb")
    mirror.summary.update(plain(sweep.summary))
    _log_tables(mirror, sweep.tables)
    _log_figures(mirror, sweep.folder)
    page = (sweep.folder / "report.html").read_text(encoding="utf-8")
    mirror.log({"report": wandb.Html(page, inject=False)})
    inputs, data = [], {}
    for folder in sweep.runs:
        result = Result.read(folder)
        inputs.append(run_artifact(folder, result, texts))
        if (found := data_artifact(result.provenance)) is not None:
            data[found.digest] = found
    declare_inputs(mirror, [*data.values(), *inputs])
    mirror.log_artifact(report_artifact(sweep.folder, sweep.name))


def _log_tables(mirror: Any, tables: Sequence[Table]) -> None:
    wandb = require("wandb", extra="wandb")
    for table in tables:
        columns = list(dict.fromkeys(key for row in table.rows for key in row))
        rows = [[plain(row).get(column) for column in columns] for row in table.rows]
        data = wandb.Table(columns=columns, data=rows, allow_mixed_types=True)
        mirror.log({f"tables/{table.name}": data})


def _log_figures(mirror: Any, folder: Path) -> None:
    wandb = require("wandb", extra="wandb")
    for picture in sorted((folder / "figures").glob("*.png")):
        mirror.log({f"figures/{picture.stem}": wandb.Image(str(picture))})
