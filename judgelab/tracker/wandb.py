"""Weights & Biases: config, summary, tables, figures and, where wanted, the files of a run; a sweep
is a group. Curves arrive while the run goes on, everything else when it has finished."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from judgelab.core.errors import require
from judgelab.core.result import Result, Table, plain
from judgelab.core.terminal import say
from judgelab.store.private import private_folder
from judgelab.tracker import protocol
from judgelab.tracker.dashboard import credentials_mode
from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep

SINGLE = frozenset({"item", "rater"})
"""Columns of tables about single items and people, which stay here."""
NAMING = frozenset({"raters", "columns_not_read", "overrides"})
"""Keys under which people's names and the command line stand."""
PLACE = re.compile(r"(?<![\w:/.~])[~/](?:[^\s/'\",;=]*/)+")  # the folder of an absolute path
FILES = frozenset({"path", "file"})  # keys of names of files, which may be relative
MOST_JUDGES = 50  # whose figures are in W&B's summary
FLUSH = "x_transaction_log_flush_interval"
"""Seconds between W&B's writes to disk: 1, not its 15, as a kill may come between. Older releases
write a full buffer at a time and lack the setting."""
QUIET = ("WANDB_SILENT", "WANDB_DISABLE_WEAVE")  # its own lines, and what it would load beside
LONGEST_TAG = 64  # characters; the server refuses longer ones


@dataclass(frozen=True)
class WandbTracker:
    """Online where credentials exist, else offline; never asks, never stops a run."""

    project: str = "judgelab"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    records: bool = False
    timeout: float = 20.0

    @property
    def allowed(self) -> str:
        """The mode that credentials allow: online, offline or disabled."""
        mode = credentials_mode() if self.mode == "auto" else self.mode
        if find_spec("wandb") is None:
            if mode != "disabled":
                _warn_once()
            return "disabled"
        return mode

    def open(self, root: Path, **about: Any) -> tuple[Any, str]:
        """Begin a W&B run in ``root/wandb``, which nobody else can read and which holds all that
        W&B writes; offline where no server answers. ``about``: name, group, job_type, tags and
        config, as ``wandb.init`` takes them. Returns W&B's own object, and its address, or the
        folder that ``wandb sync`` takes."""
        wandb, folder, mode = require("wandb", extra="wandb"), root / "wandb", self.allowed
        private_folder(folder)
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
            os.environ.setdefault(name, str(folder.resolve()))
        settings = wandb.Settings(
            silent=True,
            console="off",
            init_timeout=self.timeout,
            disable_git=True,
            save_code=False,
            x_disable_stats=True,
            x_disable_meta=True,  # else W&B sends the command line, folders and the host's name
        )
        if FLUSH in wandb.Settings.model_fields:
            setattr(settings, FLUSH, 1.0)
        about["tags"] = [str(tag)[:LONGEST_TAG] for tag in about["tags"]]
        about |= {"project": self.project, "entity": self.entity, "dir": str(root)}
        about["settings"] = settings
        with _without_advertisements():
            try:
                run, excuse = wandb.init(mode=mode, **about), ""
            except wandb.errors.Error as cause:  # no key, a wrong one, no answer in time
                if mode == "offline":
                    raise
                excuse = f" (kept offline: {' '.join(str(cause).split())[:120]})"
                run = wandb.init(mode="offline", **about)
        online = mode == "online" and not excuse
        return run, f"{run.url if online else Path(run.dir).parent}{excuse}"

    def follow(self, run: TrackedRun) -> WandbMirror:
        """A mirror that opens its W&B run at the first point, or when the run has finished."""
        return WandbMirror(self, run)

    def compare(self, sweep: TrackedSweep) -> str | None:
        """A run of its own in the sweep's group: the comparison, its figures, with ``records`` its
        page."""
        if self.allowed == "disabled":
            return None
        about: Any = {"sweep": sweep.name, "axes": {k: list(v) for k, v in sweep.axes.items()}}
        about = about if self.records else without_places(about)
        run, place = self.open(
            sweep.folder.parent.parent,
            name=about["sweep"],
            group=about["sweep"],
            job_type="sweep",
            tags=["sweep", *sweep.axes],
            config=about,
        )
        tables, summary = sweep.tables, sweep.summary
        if not self.records:
            tables, summary = without_records([tables, summary])
        try:
            run.summary.update(plain(summary))
            _log_shown(run, tables, sweep.folder)
            if self.records:  # the page has the command
                page = (sweep.folder / "report.html").read_text(encoding="utf-8")
                run.log({"report": require("wandb", extra="wandb").Html(page, inject=False)})
        except BaseException:
            run.finish(exit_code=1)
            raise
        run.finish()
        return place


@cache
def _warn_once() -> None:
    say("Nothing is tracked: wandb is not installed (pip install -e '.[wandb]').", sys.stderr)


class WandbMirror(Mirror):
    """One W&B run. A run that was killed and continues has another, whose curve begins anew at step
    0; the first one keeps what it had."""

    def __init__(self, tracker: WandbTracker, run: TrackedRun) -> None:
        self._tracker, self._run, self._off = tracker, run, tracker.allowed == "disabled"
        self._opened: tuple[Any, str] | None = None
        self._sent: set[tuple[str, float, str]] = set()

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """Sent at once, unless W&B is disabled."""
        if not self._off:
            self._curve(self._open()[0], curve, [row])

    def publish(self, result: Result) -> str | None:
        """Returns its address, or the folder that ``wandb sync`` takes."""
        if self._off:
            return None
        run, place = self._open(str(result.summary.get("study", "run")))
        try:
            _log(run, self._run, result, self._tracker.records)
            for table in result.tables:
                self._curve(run, table.name, table.rows)
        except BaseException:
            self.close()  # else W&B takes the next run of a sweep for this one
            raise
        run.finish()
        return place

    def close(self) -> None:
        """W&B shows the run as failed."""
        if self._opened is not None:
            self._opened[0].finish(exit_code=1)

    def _open(self, kind: str | None = None) -> tuple[Any, str]:
        if self._opened is None:
            run = self._run
            if not self._tracker.records:
                about = {key: value for key, value in vars(run).items() if key != "folder"}
                run = replace(run, **without_records(about))
            study = str(run.config.get("study", {}).get("_target_", ".run.")).split(".")[-2]
            self._opened = self._tracker.open(
                self._run.folder.parent.parent,
                name=run.name,
                group=run.sweep,
                job_type=kind or study,
                tags=[f"{axis}:{option}" for axis, option in run.axes.items()],
                config={**run.config, "axes": dict(run.axes), "run": run.folder.name},
            )
        return self._opened

    def _curve(self, mirror: Any, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Every other number of a table with a column ``step`` is a curve over it."""
        if not rows or "step" not in rows[0]:
            return
        if all(curve != name for curve, _, _ in self._sent):
            mirror.define_metric(f"{name}/step", hidden=True)
            mirror.define_metric(f"{name}/*", step_metric=f"{name}/step")
        for row in rows:
            numbers = {k: v for k, v in plain(row).items() if isinstance(v, int | float)}
            new = {k for k in numbers if k != "step" and (name, row["step"], k) not in self._sent}
            if new:
                self._sent |= {(name, row["step"], k) for k in new}
                mirror.log({f"{name}/{k}": v for k, v in numbers.items() if k in {*new, "step"}})


def _log(mirror: Any, run: TrackedRun, result: Result, records: bool) -> None:
    """Everything but curves, of one run."""
    name = run.name
    if not records:
        result, name = replace(result, **without_records(vars(result))), without_places(name)
    words = protocol.in_words(result.answer, result.title)
    entries = {**words, **result.summary, **protocol.headline(result)}
    mirror.summary.update(plain(entries | {"run": run.folder.name}))
    if judges := protocol.judge_rows(result):
        own = {str(row["judge"]): plain(row) for row in judges[:MOST_JUDGES]}
        mirror.summary.update({"judges_by_name": own})
    if estimators := result.estimators:
        mirror.summary["estimator"] = "; ".join(one.line for one in estimators)
        numbered = {str(k): asdict(one) for k, one in enumerate(estimators)}
        mirror.config.update({"estimator": numbered["0"] if len(numbered) == 1 else numbered})
    bars = Table("bars", "Figures with intervals", protocol.bars(result, name, run.axes))
    tables = [*result.tables, bars]
    _log_shown(mirror, tables, run.folder)
    if records:
        safe = re.sub(r"[^\w.-]+", "-", run.folder.name, flags=re.ASCII).strip("-")[:128]
        artifact = require("wandb", extra="wandb").Artifact(name=safe, type="run")
        artifact.add_dir(str(run.folder))
        mirror.log_artifact(artifact)


def _log_shown(mirror: Any, tables: Sequence[Table], folder: Path) -> None:
    wandb = require("wandb", extra="wandb")
    for table in tables:
        columns = list(dict.fromkeys(key for row in table.rows for key in row))
        rows = [[plain(row).get(column) for column in columns] for row in table.rows]
        data = wandb.Table(columns=columns, data=rows, allow_mixed_types=True)
        mirror.log({f"tables/{table.name}": data})
    for picture in sorted((folder / "figures").glob("*.png")):
        mirror.log({f"figures/{picture.stem}": wandb.Image(str(picture))})


def without_records(value: Any) -> Any:
    """The value without tables of single items, people's names, the command line and folders."""
    if isinstance(value, Table):
        return replace(value, rows=without_places(value.rows))
    if isinstance(value, Mapping):
        rest = {k: v for k, v in value.items() if k not in NAMING}
        files = {k: Path(v).name for k, v in rest.items() if k in FILES and isinstance(v, str)}
        return {k: without_records(v) for k, v in (rest | files).items()}
    if isinstance(value, list | tuple):
        return [without_records(one) for one in value if not _of_single(one)]
    return without_places(value)


def without_places(value: Any) -> Any:
    """The value with the last name of each absolute path in its place."""
    if isinstance(value, Mapping):
        return {key: without_places(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_places(one) for one in value]
    return PLACE.sub("", value) if isinstance(value, str) else value


def _of_single(table: Any) -> bool:
    rows = table.get("rows") if isinstance(table, Mapping) else getattr(table, "rows", None)
    listed = rows if isinstance(rows, list | tuple) else ()
    return any(isinstance(row, Mapping) and not SINGLE.isdisjoint(row) for row in listed)


@contextmanager
def _without_advertisements() -> Iterator[None]:
    added = [name for name in QUIET if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "true"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
