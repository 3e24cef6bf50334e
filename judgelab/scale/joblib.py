"""Several processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from judgelab.errors import JudgelabError, require
from judgelab.scale.sharded import Sharded
from judgelab.scale.shards import Answers, Shard
from judgelab.scale.worker import Model, answer


def _numbered(index: int, model: Model, shard: Shard) -> tuple[int, Answers]:
    return index, answer(model, shard)


class Joblib(Sharded):
    """joblib's process pool (loky); each worker loads the LM once and keeps it.

    Args:
        workers: processes; None for one per core that this process may use.
        threads: of the numerical libraries in each: processes with several each slow one another
            down where they share cores.

    Raises:
        ConfigError: a number below 1.
    """

    def __init__(self, workers: int | None = None, threads: int = 1) -> None:
        super().__init__(workers, threads)
        self._used = False

    def answer(self, model: Model, shards: Sequence[Shard]) -> Iterator[tuple[int, Answers]]:
        """See Sharded."""
        joblib = require("joblib", extra="dev")
        broken = require("joblib.externals.loky.process_executor", extra="dev").BrokenProcessPool

        self._used = True
        count = self.workers or len(os.sched_getaffinity(0))
        jobs = (joblib.delayed(_numbered)(i, model, shard) for i, shard in enumerate(shards))
        with joblib.parallel_config("loky", inner_max_num_threads=self.threads):
            parallel = joblib.Parallel(count, return_as="generator_unordered", batch_size=1)
        try:
            yield from parallel(jobs)
        except broken as cause:
            raise JudgelabError(
                f"One of {count} worker processes was killed (out of memory?): what was "
                "answered is kept; run again, with fewer scale.workers."
            ) from cause

    def close(self) -> None:
        """Stop the processes."""
        if self._used:
            loky = require("joblib.externals.loky", extra="dev")
            loky.get_reusable_executor().shutdown(wait=True, kill_workers=True)
            self._used = False
