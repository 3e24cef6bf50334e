"""Files from the Hugging Face Hub, and whether it can be asked at all, told at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from judgelab.core.errors import require

WAIT = 3.0  # seconds to wait for a connection before the Hub counts as out of reach
YES = frozenset({"1", "ON", "YES", "TRUE"})


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

    ``revision`` is a branch, tag or commit; judgelab's ``extra`` holds ``huggingface_hub``.
    HubError: there is no such repository or revision, access to it is refused, or the Hub is out
    of reach and nothing is cached.

    Returns:
        the snapshot's folder, called after its commit; and why the Hub could not be asked, in
        which case the cache may hold a part of the files only (None where it was asked).
    """
    library = require("huggingface_hub", extra=extra)
    # A submodule is no attribute of its package until somebody imports it.
    from huggingface_hub import constants

    endpoint = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
    offline = constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE", "").upper() in YES
    obstacle = "HF_HUB_OFFLINE is set" if offline else None
    try:
        if not offline:  # the download itself would try again and again, for up to 24 s
            api = library.HfApi(endpoint=endpoint)
            api.repo_info(repo, repo_type=kind, revision=revision, timeout=WAIT)
    except Exception as cause:  # several libraries' network errors, with no common base
        status = getattr(getattr(cause, "response", None), "status_code", None)
        reason = _reason(cause, kind)
        if reason or status is not None:  # it is there, and refuses
            raise HubError(reason or f"the Hub answers HTTP {status}") from cause
        obstacle = f"{urlsplit(endpoint).netloc} cannot be reached"
    try:
        folder = library.snapshot_download(
            repo,
            repo_type=kind,
            revision=revision,
            allow_patterns=list(patterns),
            endpoint=endpoint,
            local_files_only=obstacle is not None,
        )
    except Exception as cause:
        broken = f"{type(cause).__name__}: {' '.join(str(cause).split())[:200]}"
        raise HubError(obstacle or _reason(cause, kind) or broken) from cause
    return Path(folder), obstacle


def _reason(cause: Exception, kind: str) -> str | None:
    """What the Hub refuses, and why; None where it did not answer."""
    reasons = {
        "GatedRepoError": "access must be requested on its page, then `hf auth login`",
        "RepositoryNotFoundError": f"there is no such {kind}, or it is private",
        "RevisionNotFoundError": "there is no such revision",
        "HFValidationError": "it is not a valid id",
    }
    # a gated repository counts as not found, too
    return next((reasons[c.__name__] for c in type(cause).__mro__ if c.__name__ in reasons), None)
