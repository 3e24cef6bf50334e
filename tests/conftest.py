"""Shared fixtures: where the authors' released data lies."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra._internal import defaults_list
from omegaconf import OmegaConf

from judgelab.config.targets import trusting
from judgelab.engine import execution

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def _own_classes() -> Iterator[None]:
    """Configs of tests name LMs and judges that stand in tests."""
    with trusting(["tests"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_are_parsed_once() -> Iterator[None]:
    """Configs are composed some two thousand times, of the same few hundred files."""
    load, kept = OmegaConf.load, dict[tuple[str, int, int], bytes]()

    def remembered(file: Any) -> Any:
        path = Path(file if isinstance(file, str | Path) else file.name)  # Hydra opens it first
        there = path.stat()
        key = (str(path), there.st_mtime_ns, there.st_size)
        if key not in kept:
            kept[key] = pickle.dumps(load(file))
        return pickle.loads(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OmegaConf, "load", staticmethod(remembered))
        # for each file a map of all choices, which interpolated defaults alone read; we have none
        patch.setattr(defaults_list, "_create_interpolation_map", lambda *_: OmegaConf.create())
        # no test changes our code; a user's run hashes it once
        patch.setattr(execution, "code_digest", cache(execution.code_digest))
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
