"""Shared fixtures: where the authors' released data lies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgelab.config.targets import trusting

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def _own_classes() -> Iterator[None]:
    """Configs of tests name LMs and judges that stand in tests."""
    with trusting(["tests"]):
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of released data (never part of the project); skips where it is absent."""
    folder = Path(os.environ.get("JUDGELAB_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(
            "no released data: set JUDGELAB_SHARED to a folder with data/peer_prediction, from "
            "github.com/zrobertson466920/llm-peer-prediction (others: experiments/tables.py)"
        )
    return folder
