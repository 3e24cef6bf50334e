"""Running the command line as a user does, with everything written below a temporary folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(folder: Path) -> dict[str, str]:
    """No home, no credentials, no network, results below ``folder``."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "HF_"))}
    return env | {
        "JUDGELAB_ROOT": str(folder),
        "HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "200",
    }


@pytest.fixture
def judgelab(tmp_path: Path) -> Command:
    """``judgelab("mechanism=mi", ...)`` runs run.py with these overrides."""

    def call(*overrides: str, root: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "run.py", *overrides],
            cwd=ROOT,
            env=environment(root),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return call
