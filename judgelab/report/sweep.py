"""The end of a sweep: one table over all its runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig


class Comparison(Callback):
    """Prints and writes the comparison of a sweep's runs, and fails if one of them failed."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Compare the jobs of the sweep.

        Raises:
            SystemExit: a job failed.
        """
        folder = Path(config.hydra.sweep.dir)
        jobs = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*/job.json"))]
        for job in jobs:
            print(" ".join(job["overrides"]), job["status"], job.get("run", job.get("error")))
        if any(job["status"] == "failed" for job in jobs):
            raise SystemExit(1)
