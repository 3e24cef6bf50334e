"""Opening a W&B run: online where credentials exist, else offline, and without advertisements."""

from __future__ import annotations

import netrc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from judgelab.core.errors import require
from judgelab.store.private import private_folder

FLUSH = "x_transaction_log_flush_interval"
"""Seconds between W&B's writes to disk: 1, not its 15, as a kill may come between. Older releases
write a full buffer at a time and lack the setting."""
WANDB_ASIDE = "WANDB_DISABLE_WEAVE"
"""W&B's switch for what it would load beside itself."""
LONGEST_TAG = 64
"""Characters; the server refuses longer ones."""


@dataclass(frozen=True)
class Destination:
    """Where runs go.

    Attributes:
        project, entity: W&B's.
        mode: online, offline or disabled.
        timeout: seconds to wait for the server before a run is kept offline instead.
    """

    project: str
    entity: str | None
    mode: str
    timeout: float


@dataclass(frozen=True)
class OpenRun:
    """A W&B run that has begun.

    Attributes:
        run: W&B's own object.
        online: whether a server takes it.
        excuse: why it is kept offline though it was to go online; else "".
    """

    run: Any
    online: bool
    excuse: str

    @property
    def place(self) -> str:
        """Its address, or the folder that ``wandb sync`` takes."""
        where = self.run.url if self.online else str(Path(self.run.dir).parent)
        return f"{where}{self.excuse}"


def open_run(to: Destination, root: Path, **about: Any) -> OpenRun:
    """Begin a W&B run in ``root/wandb``; offline where no server answers.

    Args:
        to: where it goes.
        root: folder of all results; W&B adds a folder ``wandb`` of its own.
        about: name, group, job_type, tags and config, as ``wandb.init`` takes them.
    """
    wandb, mode = require("wandb", extra="wandb"), to.mode
    about["tags"] = [str(tag)[:LONGEST_TAG] for tag in about.get("tags", ())]
    try:
        return OpenRun(_begin(wandb, to, mode, root, about), mode == "online", "")
    except wandb.errors.Error as cause:  # no key, a wrong one, no answer in time
        if mode == "offline":
            raise
        run = _begin(wandb, to, "offline", root, about)
        return OpenRun(run, False, f" (kept offline: {' '.join(str(cause).split())[:120]})")


def _begin(wandb: Any, to: Destination, mode: str, root: Path, about: dict[str, Any]) -> Any:
    keep_below(root)
    settings = wandb.Settings(
        silent=True,
        console="off",
        init_timeout=to.timeout,
        disable_git=True,
        save_code=False,
        x_disable_stats=True,
    )
    if FLUSH in wandb.Settings.model_fields:
        setattr(settings, FLUSH, 1.0)
    with without_advertisements():
        return wandb.init(
            project=to.project,
            entity=to.entity,
            mode=mode,
            dir=str(root),
            settings=settings,
            **about,
        )


def keep_below(root: Path) -> None:
    """All that W&B writes goes to ``root/wandb``, which nobody else can read."""
    folder = root / "wandb"
    private_folder(folder)
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
        os.environ.setdefault(name, str(folder.resolve()))


@contextmanager
def without_advertisements() -> Iterator[None]:
    """W&B's own lines stay off the terminal: where it found a key, and what it recommends."""
    added = [name for name in ("WANDB_SILENT", WANDB_ASIDE) if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "true"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


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
