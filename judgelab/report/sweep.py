"""The end of a sweep: one comparison over its runs, and an exit code that tells of failures.

Hydra builds this callback at the start of every command, so nothing heavy is imported here.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf


class Comparison(Callback):
    """Prints and writes the comparison of a sweep's runs, and fails if one of them failed."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Forget the jobs of an earlier sweep in the same folder."""
        for note in Path(config.hydra.sweep.dir).glob("*/job.json"):
            note.unlink()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Compare the jobs of the sweep.

        Raises:
            SystemExit: a job failed, or the comparison itself did (Hydra would only warn).
        """
        from judgelab.config.launch import sentence
        from judgelab.report import comparison

        if config.get("dry_run") is True:  # every job has said what it would ask
            return
        try:
            failed = comparison.conclude(Path(config.hydra.sweep.dir))
        except Exception as cause:
            if OmegaConf.select(config, "debug.traceback"):
                traceback.print_exc()
            print(f"error: no comparison of the sweep: {sentence(cause)}", file=sys.stderr)
            raise SystemExit(1) from cause
        if failed:
            raise SystemExit(1)
