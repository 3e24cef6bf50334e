"""The Hub, asked by a fresh process: what was imported before must not matter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """
from judgelab.core.errors import ConfigError
from judgelab.scoring.source import find
try:
    find("some/absent-model", None, None)
except ConfigError as fault:
    print(fault)
"""
DATASET = """
from judgelab.dataset.provenance import fetch
from judgelab.core.errors import DataError
try:
    fetch({"id": "some/absent-set", "revision": "main", "split": "test"})
except DataError as fault:
    print(fault)
"""


@pytest.mark.parametrize(
    ("code", "name", "advice"),
    [(MODEL, "some/absent-model", ""), (DATASET, "some/absent-set", "dataset.source=sample")],
)
def test_what_is_not_cached_is_one_sentence_offline(
    tmp_path: Path, code: str, name: str, advice: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    [sentence] = done.stdout.splitlines()
    assert name in sentence and "HF_HUB_OFFLINE is set" in sentence and advice in sentence
    assert sentence.endswith(".")
