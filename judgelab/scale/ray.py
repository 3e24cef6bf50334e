"""A Ray cluster: one LM per worker, on any number of machines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.core.bounds import NotNegative
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.scale.sharded import THREADS, Answered, Model, Shard, Sharded, answer

RESTARTS = 2  # of a worker that died; its shard is then answered again


class RayWorker:
    """An actor: it lives as long as the run, and so does the LM in it."""

    def answer(self, index: int, model: Model, shard: Shard) -> tuple[int, Answered]:
        """See judgelab.scale.sharded."""
        return index, answer(model, shard)


@dataclass(eq=False)
class Ray(Sharded):
    """Workers are Ray actors, placed where their share of CPUs and GPUs is.

    judgelab has to be installed on every machine, with the same code and the same model files
    (both are checked). Only questions and answers travel; the cache stays with this process.

    Args:
        address: of a running cluster (``auto``, ``host:6379``); None starts Ray on this machine.
        workers: None for as many as the cluster holds.
        cpus, gpus: of one worker; a fraction lets several share a GPU.
        threads: of the numerical libraries in each.
    """

    address: str | None = None
    cpus: NotNegative = 1.0
    gpus: NotNegative = 0.0

    def __post_init__(self) -> None:
        if self.cpus + self.gpus <= 0:
            raise ConfigError(
                "scale.cpus and scale.gpus are a worker's share: one must be above 0."
            )
        self._ray: Any = None
        self._ours, self._actors = False, list[Any]()

    def answer(self, model: Model, shards: Sequence[Shard]) -> Iterator[tuple[int, Answered]]:
        """See Sharded."""
        ray = self._connect()
        pool = ray.util.ActorPool(self._workers())
        jobs = [(index, shard) for index, shard in enumerate(shards)]
        try:
            yield from pool.map_unordered(
                lambda actor, job: actor.answer.remote(job[0], model, job[1]), jobs
            )
        except ray.exceptions.RayTaskError as failed:
            if isinstance(failed.cause, JudgelabError):
                raise failed.cause from None
            raise
        except ray.exceptions.RayActorError as cause:
            raise JudgelabError(
                f"A Ray worker died {RESTARTS + 1} times (out of memory?): what was answered is "
                "kept; run again, with fewer scale.workers or larger scale.cpus."
            ) from cause

    def close(self) -> None:
        """Stop the workers, and Ray where we started it."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._ours:
            self._ray.shutdown()
            self._ours = False

    def _connect(self) -> Any:
        if self._ray is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            self._ray = require("ray", extra="ray")
        if not self._ray.is_initialized():
            try:
                self._ray.init(
                    address=self.address or "local", log_to_driver=False, logging_level="error"
                )
            except ConnectionError as cause:
                raise ConfigError(
                    f"scale.address={self.address}: no Ray cluster answers there: start one with "
                    "'ray start --head', or leave it null for this machine alone."
                ) from cause
            self._ours = True
        return self._ray

    def _workers(self) -> list[Any]:
        if not self._actors:
            room = places(self._ray.nodes(), {"CPU": self.cpus, "GPU": self.gpus})
            if room < (self.workers or 1):
                raise ConfigError(
                    f"The Ray cluster has room for {room} workers of scale.cpus={self.cpus:g} and "
                    f"scale.gpus={self.gpus:g}: lower these, or scale.workers."
                )
            env = dict.fromkeys(THREADS, str(self.threads))
            actor = self._ray.remote(
                num_cpus=self.cpus,
                num_gpus=self.gpus,
                max_restarts=RESTARTS,
                max_task_retries=RESTARTS,
                runtime_env={"env_vars": env},
                scheduling_strategy="SPREAD",
            )(RayWorker)
            self._actors = [actor.remote() for _ in range(self.workers or room)]
        return self._actors


def places(nodes: Sequence[Mapping[str, Any]], need: Mapping[str, float]) -> int:
    """How many workers of this need the living nodes hold; none is split over two nodes."""
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    wanted = {name: amount for name, amount in need.items() if amount}
    return sum(
        min(int(have.get(name, 0) / amount + 1e-9) for name, amount in wanted.items())
        for have in alive
    )
