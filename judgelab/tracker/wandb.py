"""Weights & Biases: config, summary, tables, figures and an artifact; a sweep is a group."""

from __future__ import annotations

import netrc
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlparse

from judgelab.errors import require
from judgelab.result import Result, Table, plain
from judgelab.tracker.protocol import FinishedRun


@dataclass(frozen=True)
class WandbTracker:
    """Online where credentials exist, else offline; never asks, never stops a run.

    Args:
        project, entity: where the run goes.
        mode: auto looks for WANDB_MODE, then for a key in WANDB_API_KEY or the netrc file.
        texts: whether the artifact holds the responses too; off, so that no text leaves unasked.
        timeout: seconds to wait for the server before the run is kept offline instead.
    """

    project: str = "judgelab"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    texts: bool = False
    timeout: float = 20.0

    def publish(self, run: FinishedRun) -> str | None:
        """Mirror the run; returns its address, or the folder that ``wandb sync`` takes."""
        mode = credentials_mode() if self.mode == "auto" else self.mode
        if mode == "disabled":
            return None
        wandb = require("wandb", extra="core")
        try:
            return self._publish(wandb, run, mode)
        except wandb.errors.Error as cause:  # no key, a wrong one, no answer in time
            if mode == "offline":
                raise
            place = self._publish(wandb, run, "offline")
            return f"{place} (kept offline: {' '.join(str(cause).split())[:120]})"

    def _publish(self, wandb: Any, run: FinishedRun, mode: str) -> str:
        root = run.folder.parent.parent  # W&B adds a folder "wandb" of its own
        folder = root / "wandb"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
            os.environ.setdefault(name, str(folder.resolve()))
        settings = wandb.Settings(
            silent=True,
            console="off",
            init_timeout=self.timeout,
            disable_git=True,
            save_code=False,
            x_disable_stats=True,
        )
        with wandb.init(
            project=self.project,
            entity=self.entity,
            mode=mode,
            dir=str(root),
            name=run.name,
            group=run.sweep,
            job_type=str(run.result.summary.get("study", "run")),
            config={**run.config, **_estimators(run.result)},
            settings=settings,
        ) as mirror:
            _log(wandb, mirror, run, self.texts)
            place = mirror.url if mode == "online" else str(Path(mirror.dir).parent)
        return str(place)


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


def _log(wandb: Any, mirror: Any, run: FinishedRun, texts: bool) -> None:
    mirror.summary.update(plain(run.result.summary))
    if run.result.estimators:
        mirror.summary["estimator"] = "; ".join(one.line for one in run.result.estimators)
    for table in run.result.tables:
        columns = list(dict.fromkeys(key for row in table.rows for key in row))
        rows = [[plain(row).get(column) for column in columns] for row in table.rows]
        data = wandb.Table(columns=columns, data=rows, allow_mixed_types=True)
        mirror.log({f"tables/{table.name}": data})
        _curves(mirror, table)
    for picture in sorted((run.folder / "figures").glob("*.png")):
        mirror.log({f"figures/{picture.stem}": wandb.Image(str(picture))})
    artifact = wandb.Artifact(name=run.name, type="run", metadata=plain(run.result.summary))
    for file in sorted(p for p in run.folder.rglob("*") if p.is_file() and p.name[0] != "."):
        if file.name.endswith("_texts.parquet") and not texts:
            continue
        artifact.add_file(str(file), name=str(file.relative_to(run.folder)))
    mirror.log_artifact(artifact)


def _estimators(result: Result) -> dict[str, Any]:
    """For the config, by which runs are filtered: the one estimator, or all of them numbered."""
    found = [asdict(one) for one in result.estimators]
    if len(found) < 2:
        return {"estimator": found[0]} if found else {}
    return {"estimator": {str(number): one for number, one in enumerate(found)}}


def _curves(mirror: Any, table: Table) -> None:
    """Every other number of a table with a column ``step`` is a curve over it."""
    if not table.rows or "step" not in table.rows[0]:
        return
    axis = f"{table.name}/step"
    mirror.define_metric(axis, hidden=True)
    mirror.define_metric(f"{table.name}/*", step_metric=axis)
    for row in table.rows:
        known = {k: v for k, v in plain(row).items() if isinstance(v, int | float)}
        mirror.log({f"{table.name}/{key}": value for key, value in known.items()})
