"""Files from the Hugging Face Hub, and whether it can be asked at all, told at once."""

from __future__ import annotations

import os
import socket
import threading
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from judgelab.core.errors import require

WAIT = 3.0
"""Seconds to wait for a connection before the Hub counts as out of reach."""


class HubError(Exception):
    """The Hub gave nothing; the message is the reason, a clause for the caller's sentence."""


def hub_folder(
    repo: str,
    revision: str,
    patterns: Sequence[str],
    *,
    kind: Literal["model", "dataset"],
    extra: str,
) -> tuple[Path, str | None]:
    """Download the files of a repository that match, or find them in the cache.

    Args:
        revision: branch, tag or commit.
        extra: of judgelab, that holds ``huggingface_hub``.

    Returns:
        the snapshot's folder, called after its commit; and why the Hub could not be asked, in
        which case the cache may hold a part of the files only (None where it was asked).

    Raises:
        HubError: there is no such repository or revision, access to it is refused, or the Hub is
            out of reach and nothing is cached.
    """
    library = require("huggingface_hub", extra=extra)
    # A submodule is no attribute of its package until somebody imports it.
    from huggingface_hub import constants

    endpoint = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
    obstacle = why_offline(endpoint, constants.HF_HUB_OFFLINE)
    try:
        folder = library.snapshot_download(
            repo,
            repo_type=kind,
            revision=revision,
            allow_patterns=list(patterns),
            endpoint=endpoint,
            local_files_only=obstacle is not None,
        )
    except Exception as cause:  # several libraries' network errors, with no common base
        raise HubError(obstacle or _reason(cause, kind)) from cause
    return Path(folder), obstacle


def _reason(cause: Exception, kind: str) -> str:
    known = {
        "GatedRepoError": "access must be requested on its page, then `hf auth login`",
        "RepositoryNotFoundError": f"there is no such {kind}, or it is private",
        "RevisionNotFoundError": "there is no such revision",
        "HFValidationError": "it is not a valid id",
    }
    for base in type(cause).__mro__:  # a gated repository counts as not found, too
        if base.__name__ in known:
            return known[base.__name__]
    return f"{type(cause).__name__}: {' '.join(str(cause).split())[:200]}"


def why_offline(endpoint: str, offline_mode: bool) -> str | None:
    """Why the Hub cannot be asked, known within ``WAIT`` seconds; None where it can.

    The libraries' own retries take up to 24 s. A proxy, if configured, is what must be reachable.
    """
    if offline_mode or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return "HF_HUB_OFFLINE is set"
    url = urlsplit(endpoint)
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy and not urllib.request.proxy_bypass(url.netloc):
        url = urlsplit(proxy if "//" in proxy else f"//{proxy}", scheme="http")
    port = url.port or (443 if url.scheme == "https" else 80)
    if not url.hostname or not _connects(url.hostname, port):
        return f"{url.hostname}:{port} cannot be reached"
    return None


def _connects(host: str, port: int) -> bool:
    """Whether a connection opens in time; in a thread, as name look-up has no timeout itself."""
    opened = threading.Event()

    def attempt() -> None:
        try:
            socket.create_connection((host, port), timeout=WAIT).close()
        except OSError:
            return
        opened.set()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(WAIT)
    return opened.is_set()
