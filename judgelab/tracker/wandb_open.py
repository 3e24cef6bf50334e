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
QUIET = ("WANDB_SILENT", "WANDB_DISABLE_WEAVE")
"""W&B's own lines (where it found a key, what it recommends), and what it would load beside itself.
"""
LONGEST_TAG = 64
"""Characters; the server refuses longer ones."""


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
