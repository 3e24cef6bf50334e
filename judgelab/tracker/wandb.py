"""Weights & Biases: config, summary, tables, figures and an artifact; a sweep is a group.

Curves arrive while the run goes on, everything else when it has finished.
"""

from __future__ import annotations

import netrc
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlparse

from judgelab.core.errors import require
from judgelab.core.result import Result, plain
from judgelab.store.private import private_folder
from judgelab.tracker.protocol import Mirror, TrackedRun

FLUSH = "x_transaction_log_flush_interval"
"""Seconds between W&B's writes to disk: 1, not its 15, as a kill may come between. Older releases
write a full buffer at a time and lack the setting."""


@dataclass(frozen=True)
class WandbTracker:
    """Online where credentials exist, else offline; never asks, never stops a run.

    Args:
        project, entity: where the run goes.
        mode: auto looks for WANDB_MODE, then for a key in WANDB_API_KEY or the netrc file.
        texts: whether the artifact holds the responses and whole replies too; off, so that no text
            leaves unasked.
        timeout: seconds to wait for the server before the run is kept offline instead.
    """

    project: str = "judgelab"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    texts: bool = False
    timeout: float = 20.0

    def follow(self, run: TrackedRun) -> WandbMirror:
        """A mirror that opens its W&B run at the first point, or when the run has finished."""
        return WandbMirror(self, run)


class WandbMirror(Mirror):
    """One W&B run.

    A run that was killed and continues has another W&B run, whose curve begins anew at step 0; the
    first one keeps what it had.
    """

    def __init__(self, tracker: WandbTracker, run: TrackedRun) -> None:
        self._tracker, self._run = tracker, run
        self._mode = credentials_mode() if tracker.mode == "auto" else tracker.mode
        self._mirror: Any = None
        self._kept_offline = ""
        self._sent: set[tuple[str, float, str]] = set()

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """Sent at once, unless W&B is disabled."""
        if self._mode != "disabled":
            self._curve(self._open(), curve, [row])

    def publish(self, result: Result) -> str | None:
        """Returns its address, or the folder that ``wandb sync`` takes."""
        if self._mode == "disabled":
            return None
        mirror = self._open(str(result.summary.get("study", "run")))
        try:
            _log(mirror, self._run.folder, result, self._tracker.texts)
            for table in result.tables:
                self._curve(mirror, table.name, table.rows)
        except BaseException:
            self.close()  # else W&B takes the next run of a sweep for this one
            raise
        place = mirror.url if self._mode == "online" else str(Path(mirror.dir).parent)
        mirror.finish()
        return f"{place}{self._kept_offline}"

    def close(self) -> None:
        """W&B shows the run as failed."""
        if self._mirror is not None:
            self._mirror.finish(exit_code=1)

    def _open(self, kind: str | None = None) -> Any:
        """The W&B run, begun when it is first asked for; offline where no server answers."""
        if self._mirror is None:
            wandb = require("wandb", extra="core")
            try:
                self._mirror = self._begin(wandb, kind)
            except wandb.errors.Error as cause:  # no key, a wrong one, no answer in time
                if self._mode == "offline":
                    raise
                self._mode = "offline"
                self._mirror = self._begin(wandb, kind)
                self._kept_offline = f" (kept offline: {' '.join(str(cause).split())[:120]})"
        return self._mirror

    def _begin(self, wandb: Any, kind: str | None) -> Any:
        tracker, run = self._tracker, self._run
        root = run.folder.parent.parent  # W&B adds a folder "wandb" of its own
        folder = root / "wandb"
        private_folder(folder)
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
            os.environ.setdefault(name, str(folder.resolve()))
        settings = wandb.Settings(
            silent=True,
            console="off",
            init_timeout=tracker.timeout,
            disable_git=True,
            save_code=False,
            x_disable_stats=True,
        )
        if FLUSH in wandb.Settings.model_fields:
            setattr(settings, FLUSH, 1.0)
        study = str(run.config.get("study", {}).get("_target_", ".run.")).split(".")[-2]
        return wandb.init(
            project=tracker.project,
            entity=tracker.entity,
            mode=self._mode,
            dir=str(root),
            name=run.folder.name,
            group=run.sweep,
            job_type=kind or study,
            config=dict(run.config),
            settings=settings,
        )

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


def credentials_mode() -> str:
    """WANDB_MODE if set; online if a key for the server is at hand; else offline."""
    if os.environ.get("WANDB_MODE"):
        return os.environ["WANDB_MODE"]
    if os.environ.get("WANDB_API_KEY"):
        return "online"
    host = urlparse(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    try:
        known = netrc.netrc(os.environ.get("NETRC")).authenticators(host)
    except (OSError, netrc.NetrcParseError):
        return "offline"
    return "online" if known else "offline"


def _log(mirror: Any, folder: Path, result: Result, texts: bool) -> None:
    wandb = require("wandb", extra="core")
    mirror.summary.update(plain(result.summary))
    if result.estimators:
        mirror.summary["estimator"] = "; ".join(one.line for one in result.estimators)
        found = [asdict(one) for one in result.estimators]  # runs are filtered by the config
        numbered = {str(number): one for number, one in enumerate(found)}
        mirror.config.update({"estimator": found[0] if len(found) == 1 else numbered})
    for table in result.tables:
        columns = list(dict.fromkeys(key for row in table.rows for key in row))
        rows = [[plain(row).get(column) for column in columns] for row in table.rows]
        data = wandb.Table(columns=columns, data=rows, allow_mixed_types=True)
        mirror.log({f"tables/{table.name}": data})
    for picture in sorted((folder / "figures").glob("*.png")):
        mirror.log({f"figures/{picture.stem}": wandb.Image(str(picture))})
    # W&B takes 100 keys; the figures are in the run's summary, and in result.json
    told = {k: v for k, v in result.summary.items() if "/" not in k or k == result.primary}
    metadata = dict(list(plain(told).items())[:100])
    artifact = wandb.Artifact(name=folder.name, type="run", metadata=metadata)
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and p.name[0] != "."):
        if file.name.endswith(("_texts.parquet", "unscored.parquet")) and not texts:
            continue
        artifact.add_file(str(file), name=str(file.relative_to(folder)))
    mirror.log_artifact(artifact)
