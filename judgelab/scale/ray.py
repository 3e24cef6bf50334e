"""A Ray cluster: one LM per worker, on any number of machines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.calls.cached import Cached
from judgelab.config.targets import trusted
from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.core.lm import LogProbTable
from judgelab.scale.local import Ask, Spread
from judgelab.scale.shards import Answered, Model, PairShard, Shard, answer, missing
from judgelab.store.fingerprint import code_digest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""The environment by which numerical libraries learn how many threads they may start."""
RESTARTS = 2  # of a worker that died; its shard is then answered again


class RayWorker:
    """An actor: it lives as long as the run, and so does the LM in it."""

    def answer(self, index: int, model: Model, shard: Shard) -> tuple[int, Answered]:
        """See judgelab.scale.shards."""
        return index, answer(model, shard)


@dataclass(eq=False)
class Ray:
    """Workers are Ray actors, placed where their share of CPUs and GPUs is.

    A step of a run is first put to a stand-in that notes its questions. Workers answer them, an
    item's batch at a time, and each batch is kept the moment it arrives: kill -9 of this process
    loses the batches under way. Then the step runs as it always does and finds all it asks for.
    So no mechanism knows of workers, and results have the bytes of one process. Where questions
    depend on answers (notes first, then texts), that goes round once a stage.

    judgelab has to be installed on every machine, with the same code and the same model files
    (both are checked). Only questions and answers travel; the cache stays with this process.

    Args:
        address: of a running cluster (``auto``, ``host:6379``); None starts Ray on this machine.
        workers: None for as many as the cluster holds.
        cpus, gpus: of one worker; a fraction lets several share a GPU.
        threads: of the numerical libraries in each.
    """

    address: str | None = None
    workers: Count | None = None
    threads: Count = 1
    cpus: NotNegative = 1.0
    gpus: NotNegative = 0.0

    def __post_init__(self) -> None:
        if self.cpus + self.gpus <= 0:
            raise ConfigError(
                "scale.cpus and scale.gpus are a worker's share: one must be above 0."
            )
        self._ray: Any = None
        self._ours, self._actors = False, list[Any]()

    def over(self, node: Mapping[str, Any], lm: Cached) -> Spread:
        """Spread an LM of this machine, or one that every machine of the cluster can load."""
        if lm.lm.streaming is not None:
            raise ConfigError(
                "scale: an endpoint answers many calls at once already, and its limits and budget "
                "are kept by one process: use scale=local and evaluation_lm.limits.concurrency."
            )
        own = {**node, "workers": 1} if "workers" in node else dict(node)

        def spread(ask: Ask) -> None:
            model: Model | None = None
            while shards := missing(ask, lm):
                model = model or Model(
                    json.dumps(own), lm.identity, code_digest(), str(Path.cwd()), trusted()
                )
                for index, answered in self.answer(model, shards):
                    shard, answers = shards[index], answered.answers
                    if isinstance(shard, PairShard):
                        assert isinstance(answers, LogProbTable)
                        lm.accept_logprobs(shard.contexts, shard.targets, shard.pairs, answers)
                    else:
                        assert isinstance(answers, list)
                        lm.accept_chats(shard.requests, answers)
                    lm.note_worker(answered.worker, answered.facts)

        return spread

    def answer(self, model: Model, shards: Sequence[Shard]) -> Iterator[tuple[int, Answered]]:
        """(index of the shard, its answers) in the order of arrival."""
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
