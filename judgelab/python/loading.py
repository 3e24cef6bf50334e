"""Finished runs and sweeps, read from their folders."""

from __future__ import annotations

import os
from pathlib import Path

from judgelab.core.errors import DataError
from judgelab.python.comparing import RunComparison
from judgelab.python.found import RunResult
from judgelab.report.jobs import jobs


def load(path: str | os.PathLike[str]) -> RunResult | RunComparison:
    """What a finished run found, or the comparison of a sweep, by its folder.

    Raises:
        DataError: it is neither, or the run has not finished.
    """
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{type(path).__name__} is no path: give the folder of a run or a sweep.")
    folder = Path(path).expanduser()
    return RunComparison(jobs(folder)) if any(folder.glob("*/job.json")) else RunResult.read(folder)
