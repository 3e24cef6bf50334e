"""What is true of one execution of a run but not of its numbers: code, packages, machine, time."""

from __future__ import annotations

import platform
import subprocess
import time
from importlib import metadata
from typing import Any

import judgelab
from judgelab.core.resources import PACKAGE
from judgelab.store.fingerprint import code_digest

PACKAGES = (
    *("numpy", "scipy", "pandas", "xarray", "pyppmd", "hydra-core", "wandb", "openai"),
    *("torch", "transformers", "tokenizers", "peft", "bitsandbytes", "vllm"),
)


def manifest(started: float) -> dict[str, Any]:
    """The head of a run's manifest.json.

    Args:
        started: seconds since 1970.
    """
    return {
        "judgelab": judgelab.__version__,
        "code": code_digest(),
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: _version(name) for name in PACKAGES},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 2),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The checkout's commit; None outside a checkout or without git."""
    if not (PACKAGE.parent / ".git").exists():  # a wheel may lie in somebody else's repository
        return None
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None
