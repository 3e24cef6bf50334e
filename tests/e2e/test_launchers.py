"""A preset for sweeps of conf/hydra/launcher, to the end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import process


@pytest.mark.slow
def test_a_submitted_job_ends_in_the_sweeps_report(tmp_path: Path) -> None:
    words = ["-m", "hydra/launcher=submitted", "mechanism=length", "tracker=none", "limit=4"]
    done = process(tmp_path, [sys.executable, "run.py", *words])  # the launcher forks
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/*-length-*/DONE"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/.submitit/*/*_result.pkl"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/report.html"))) == 1
