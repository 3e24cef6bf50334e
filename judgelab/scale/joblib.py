"""Several processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache

from judgelab.core.errors import JudgelabError
from judgelab.scale.sharded import Answered, Model, Shard, Sharded, answer


def _numbered(parent: int, index: int, model: Model, shard: Shard) -> tuple[int, Answered]:
    _end_with(parent)
    return index, answer(model, shard)


@lru_cache(maxsize=1)  # once a process
def _end_with(parent: int) -> None:
    """Leave when the run is gone: after its kill -9, loky's workers would stay, model and all."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Joblib(Sharded):
    """joblib's process pool (loky); each worker loads the LM once and keeps it.

    Args:
        workers: processes; None for one per core that this process may use.
        threads: of the numerical libraries in each: processes with several each slow one another
            down where they share cores.
    """

    _used = False

    def answer(self, model: Model, shards: Sequence[Shard]) -> Iterator[tuple[int, Answered]]:
        """See Sharded."""
        import joblib
        from joblib.externals.loky.process_executor import BrokenProcessPool

        self._used = True
        count = self.workers or len(os.sched_getaffinity(0))
        job = joblib.delayed(_numbered)
        jobs = (job(os.getpid(), index, model, shard) for index, shard in enumerate(shards))
        with joblib.parallel_config("loky", inner_max_num_threads=self.threads):
            parallel = joblib.Parallel(count, return_as="generator_unordered", batch_size=1)
        try:
            yield from parallel(jobs)
        except BrokenProcessPool as cause:
            raise JudgelabError(
                f"One of {count} worker processes was killed (out of memory?): what was "
                "answered is kept; run again, with fewer scale.workers."
            ) from cause

    def close(self) -> None:
        """Stop the processes."""
        if self._used:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown(wait=True, kill_workers=True)
            self._used = False
