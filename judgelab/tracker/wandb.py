"""Weights & Biases: config, summary, tables, figures and artifacts; a sweep is a group.

Curves arrive while the run goes on, everything else when it has finished. An artifact with the same
files is the same version, whoever logs it. So the data that two runs read is one artifact with two
users, and a comparison uses the very version that a run made.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from judgelab.core.errors import JudgelabError, require
from judgelab.core.result import Result, Table, plain
from judgelab.core.terminal import say
from judgelab.store.private import private_folder
from judgelab.tracker.dashboard import credentials_mode
from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep, bars, headline, in_words

COMMAND = "python -m judgelab.tracker.dashboard"
PRIVATE = (
    *("_texts.parquet", "unscored.parquet", "items.html"),
    *("judgments.parquet", "_labels.parquet"),
    *("report.html", "config.yaml"),
)
"""How files end that hold responses, sources or replies; people's names and what each said; the
command line and paths of this machine."""
DATA = (
    *("dataset", "source", "id", "config", "revision", "commit", "split", "file", "content"),
    *("digest", "rows", "agents", "agents_seed"),
)
"""What tells one panel from another, among the facts of a result's provenance."""
MOST_METADATA = 100  # keys that W&B takes
FLUSH = "x_transaction_log_flush_interval"
"""Seconds between W&B's writes to disk: 1, not its 15, as a kill may come between. Older releases
write a full buffer at a time and lack the setting."""
QUIET = ("WANDB_SILENT", "WANDB_DISABLE_WEAVE")
"""W&B's own lines (where it found a key, what it recommends), and what it would load beside itself.
"""
LONGEST_TAG = 64
"""Characters; the server refuses longer ones."""


@dataclass(frozen=True)
class OpenRun:
    """A W&B run that has begun."""

    run: Any  # W&B's own object
    online: bool  # whether a server takes it
    excuse: str  # why it is kept offline though it was to go online; else ""

    @property
    def place(self) -> str:
        """Its address, or the folder that ``wandb sync`` takes."""
        where = self.run.url if self.online else str(Path(self.run.dir).parent)
        return f"{where}{self.excuse}"


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
    def allowed(self) -> str:
        """The mode that credentials allow: online, offline or disabled."""
        mode = credentials_mode() if self.mode == "auto" else self.mode
        if find_spec("wandb") is None:
            _warn_once(mode)
            return "disabled"
        return mode

    def open(self, root: Path, **about: Any) -> OpenRun:
        """Begin a run of the project; see ``open_run``."""
        where = {"project": self.project, "entity": self.entity}
        return open_run(self.allowed, root, self.timeout, **where, **about)

    def close(self, opened: OpenRun, sweeps: Sequence[str] | None) -> str:
        """End the run, and save the dashboard if asked to; returns where to look.

        The run is kept whether there is a dashboard or not. ``sweeps`` are those that get a report;
        None: no dashboard.
        """
        place = opened.place
        opened.run.finish()
        if not self.dashboard or sweeps is None:
            return place
        if not opened.online:
            return f"{place} (no dashboard offline: after wandb sync, {COMMAND} {self.project})"
        from judgelab.tracker.dashboard import save

        try:
            saved = save(opened.run.entity, self.project, sweeps)
            return f"{place}, dashboard: {', '.join(saved)}"
        except JudgelabError as cause:
            return f"{place} (no dashboard: {cause})"

    def follow(self, run: TrackedRun) -> WandbMirror:
        """A mirror that opens its W&B run at the first point, or when the run has finished."""
        return WandbMirror(self, run)

    def compare(self, sweep: TrackedSweep) -> str | None:
        """A run of its own in the sweep's group: the comparison, its figures and its page.

        Its inputs are the data and the runs that are compared, its output is the page.
        """
        if self.allowed == "disabled":
            return None
        opened = self.open(
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
        return self.close(opened, [sweep.name])


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
        self._tracker, self._run, self._off = tracker, run, tracker.allowed == "disabled"
        self._opened: OpenRun | None = None
        self._sent: set[tuple[str, float, str]] = set()

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """Sent at once, unless W&B is disabled."""
        if not self._off:
            self._curve(self._open().run, curve, [row])

    def publish(self, result: Result) -> str | None:
        """Returns its address, or the folder that ``wandb sync`` takes."""
        if self._off:
            return None
        opened = self._open(str(result.summary.get("study", "run")))
        try:
            _log(opened.run, self._run, result, self._tracker.texts)
            for table in result.tables:
                self._curve(opened.run, table.name, table.rows)
        except BaseException:
            self.close()  # else W&B takes the next run of a sweep for this one
            raise
        alone = self._run.sweep is None  # the dashboard of a sweep is made last
        return self._tracker.close(opened, [] if alone else None)

    def close(self) -> None:
        """W&B shows the run as failed."""
        if self._opened is not None:
            self._opened.run.finish(exit_code=1)

    def _open(self, kind: str | None = None) -> OpenRun:
        """The W&B run, begun when it is first asked for."""
        if self._opened is None:
            run = self._run
            config = run.config if self._tracker.texts else without_places(run.config)
            study = str(run.config.get("study", {}).get("_target_", ".run.")).split(".")[-2]
            self._opened = self._tracker.open(
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
        if all(curve != name for curve, _, _ in self._sent):
            mirror.define_metric(f"{name}/step", hidden=True)
            mirror.define_metric(f"{name}/*", step_metric=f"{name}/step")
        for row in rows:
            known = {k: v for k, v in plain(row).items() if isinstance(v, int | float)}
            new = {k for k in known if k != "step" and (name, row["step"], k) not in self._sent}
            if new:
                self._sent |= {(name, row["step"], k) for k in new}
                mirror.log({f"{name}/{k}": v for k, v in known.items() if k in {*new, "step"}})


def _log(mirror: Any, run: TrackedRun, result: Result, texts: bool) -> None:
    """Everything but curves, of one run."""
    summary, by = result.summary, (result.primary, result.headlines)
    first = headline(summary, *by)
    told = {**in_words(result.answer, result.title), **summary, **first, "run": run.folder.name}
    mirror.summary.update(plain(told))
    if result.estimators:
        mirror.summary["estimator"] = "; ".join(one.line for one in result.estimators)
        numbered = {str(k): asdict(one) for k, one in enumerate(result.estimators)}
        mirror.config.update({"estimator": numbered["0"] if len(numbered) == 1 else numbered})
    drawn = bars(summary, *by, run.name, run.axes)
    tables = [*result.tables, Table("bars", "Figures with intervals", drawn)]
    _log_shown(mirror, tables, run.folder)
    data = data_artifact(result.provenance)
    declare_inputs(mirror, [] if data is None else [data])
    mirror.log_artifact(run_artifact(run.folder, result, texts))


def _log_sweep(mirror: Any, sweep: TrackedSweep, texts: bool) -> None:
    """The comparison, what it was made from and what it made; nothing of single jobs."""
    mirror.summary.update(plain(sweep.summary))
    _log_shown(mirror, sweep.tables, sweep.folder)
    page = (sweep.folder / "report.html").read_text(encoding="utf-8")
    mirror.log({"report": require("wandb", extra="wandb").Html(page, inject=False)})
    inputs, data = [], {}
    for folder in sweep.runs:
        result = Result.read(folder)
        inputs.append(run_artifact(folder, result, texts))
        if (read := data_artifact(result.provenance)) is not None:
            data[read.digest] = read
    declare_inputs(mirror, [*data.values(), *inputs])
    report = _artifact(f"comparison-{sweep.name}", "report", {})
    patterns = ("*.html", "*.csv", "figures/*")
    for file in sorted({file for pattern in patterns for file in sweep.folder.glob(pattern)}):
        report.add_file(str(file), name=file.relative_to(sweep.folder).as_posix())
    mirror.log_artifact(report)


def _log_shown(mirror: Any, tables: Sequence[Table], folder: Path) -> None:
    """Tables, and the figures of a folder."""
    wandb = require("wandb", extra="wandb")
    for table in tables:
        columns = list(dict.fromkeys(key for row in table.rows for key in row))
        rows = [[plain(row).get(column) for column in columns] for row in table.rows]
        data = wandb.Table(columns=columns, data=rows, allow_mixed_types=True)
        mirror.log({f"tables/{table.name}": data})
    for picture in sorted((folder / "figures").glob("*.png")):
        mirror.log({f"figures/{picture.stem}": wandb.Image(str(picture))})


def run_artifact(folder: Path, result: Result, texts: bool) -> Any:
    """The files of a finished run; where it is mirrored is no part of them.

    Args:
        folder: the run directory.
        result: what the run found: the first figures become metadata.
        texts: whether responses, whole replies, people's single labels and the command line go
            along.
    """
    told = {k: v for k, v in result.summary.items() if "/" not in k or k == result.primary}
    artifact = _artifact(folder.name, "run", dict(list(plain(told).items())[:MOST_METADATA]))
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and p.name[0] != "."):
        name = file.relative_to(folder).as_posix()
        if name == "manifest.json":
            # paths of this machine stand in the command line
            hidden = {"tracker": None} if texts else {"tracker": None, "overrides": None}
            _write(artifact, name, json.loads(file.read_text(encoding="utf-8")) | hidden)
        elif name != "DONE" and (texts or not name.endswith(PRIVATE)):
            artifact.add_file(str(file), name=name)
    return artifact


def without_places(value: Any) -> Any:
    """A config with the last name of each absolute path in its place."""
    if isinstance(value, Mapping):
        return {key: without_places(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_places(inner) for inner in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def data_artifact(provenance: Mapping[str, Any]) -> Any | None:
    """The data of a run by its hashes and where it lies, without a text; None where unknown."""
    facts: Any = provenance.get("clean")
    if not isinstance(facts, Mapping) or "digest" not in facts:
        return None
    kept = {key: facts[key] for key in DATA if facts.get(key) is not None}
    if "file" in kept:
        kept["file"] = Path(str(kept["file"])).name
    artifact = _artifact(f"data-{kept.get('dataset', 'unnamed')}", "dataset", kept)
    _write(artifact, "dataset.json", kept)
    return artifact


def declare_inputs(mirror: Any, inputs: Sequence[Any]) -> None:
    """Say that a W&B run read these artifacts, offline too.

    The public ``use_artifact`` refuses to work offline, though the file of an offline run can hold
    it; a release that lacks what is below it keeps the run, without this lineage.
    """
    for artifact in inputs:
        try:
            mirror._log_artifact(artifact, is_user_created=True, use_after_commit=True)
        except (AttributeError, TypeError):
            return


def _artifact(name: str, kind: str, metadata: Mapping[str, Any]) -> Any:
    wandb = require("wandb", extra="wandb")
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-")[:128]
    return wandb.Artifact(name=safe, type=kind, metadata=dict(metadata))


def _write(artifact: Any, name: str, value: Mapping[str, Any]) -> None:
    with artifact.new_file(name) as file:
        json.dump(value, file, indent=1, sort_keys=True, ensure_ascii=False, default=str)


def open_run(mode: str, root: Path, timeout: float, **about: Any) -> OpenRun:
    """Begin a W&B run in ``root/wandb``; offline where no server answers.

    Args:
        mode: online or offline.
        root: folder of all results; W&B adds a folder ``wandb`` of its own, which nobody else can
            read and which holds all that W&B writes.
        timeout: seconds to wait for the server before the run is kept offline instead.
        about: project, entity, name, group, job_type, tags and config, as ``wandb.init`` takes
            them.
    """
    wandb, folder = require("wandb", extra="wandb"), root / "wandb"
    private_folder(folder)
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
        os.environ.setdefault(name, str(folder.resolve()))
    settings = wandb.Settings(
        silent=True,
        console="off",
        init_timeout=timeout,
        disable_git=True,
        save_code=False,
        x_disable_stats=True,
    )
    if FLUSH in wandb.Settings.model_fields:
        setattr(settings, FLUSH, 1.0)
    about["tags"] = [str(tag)[:LONGEST_TAG] for tag in about["tags"]]
    about |= {"dir": str(root), "settings": settings}
    with _without_advertisements():
        try:
            return OpenRun(wandb.init(mode=mode, **about), mode == "online", "")
        except wandb.errors.Error as cause:  # no key, a wrong one, no answer in time
            if mode == "offline":
                raise
            excuse = f" (kept offline: {' '.join(str(cause).split())[:120]})"
            return OpenRun(wandb.init(mode="offline", **about), False, excuse)


@contextmanager
def _without_advertisements() -> Iterator[None]:
    added = [name for name in QUIET if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "true"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
