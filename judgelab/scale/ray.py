"""A Ray cluster: one LM per worker, on any number of machines; and the shards that workers answer.

A shard holds questions that have no answer yet.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from judgelab.calls.batch import Batch, BatchLM
from judgelab.calls.cached import CachedLM
from judgelab.config import build
from judgelab.config.targets import trusted, trusting
from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.core.lm import EvaluationLM
from judgelab.scale.local import Ask, Spread
from judgelab.store.fingerprint import code_digest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""The environment by which numerical libraries learn how many threads they may start."""
RESTARTS = 2  # of a worker that died; its shard is then answered again
NOT_YET = "not asked yet"  # reason of answers that workers are still to get
CHATS = 8  # requests in one shard: enough work to be worth sending, little to lose to a kill


class Collector(BatchLM):
    """Looks like ``lm``, gives known answers, and notes in ``shards`` every other question once."""

    def __init__(self, lm: CachedLM) -> None:
        super().__init__(lm)
        self.shards, self._cached, self._seen = list[Batch](), lm, set[bytes]()

    unread, about = EvaluationLM.unread, EvaluationLM.about  # nothing is noted: this is no run

    def answers(self, batch: Batch) -> Sequence[Any]:
        """Known answers; none to all others."""
        keys = batch.keys(self.identity)
        replies, first = self._cached.answers_to(keys), dict[bytes, int]()
        for index, key in enumerate(keys):
            if key not in replies and key not in self._seen:
                first.setdefault(key, index)
        self._seen.update(keys)
        if first:
            self.shards += batch.at(first.values()).shards(CHATS)
        return [replies.get(key) or batch.absent(NOT_YET) for key in keys]

    def close(self) -> None:
        """Nothing: the LM goes on."""


def open_batches(ask: Ask, lm: CachedLM) -> list[Batch]:
    """The questions of a step that have no answer yet, cut into what a worker answers at a time;
    what depends on these comes later."""
    collector = Collector(lm)
    ask(collector)
    return collector.shards


@dataclass(frozen=True)
class Model:
    """The LM that a worker has to be: its config node (JSON), and the run's own LM's identity."""

    config: str
    identity: str
    code: str  # digest of the run's judgelab sources
    folder: str  # the run's working directory, for relative paths in the config
    trusted: tuple[str, ...]  # packages whose classes the config may name


class RayWorker:
    """An actor: it lives as long as the run, and so does the LM in it."""

    def answer(
        self, index: int, model: Model, shard: Batch
    ) -> tuple[int, Any, str, dict[str, Any]]:
        """The shard's index and answers, in its order; who answers, and its LM's facts so far."""
        lm, worker = _lm(model), f"{platform.node()}:{os.getpid()}"
        return index, shard.ask(lm), worker, dict(lm.facts)


@lru_cache(maxsize=1)  # loading a model takes longer than a shard: a process keeps the last one
def _lm(model: Model) -> EvaluationLM:
    if Path(model.folder).is_dir():
        os.chdir(model.folder)
    if code_digest() != model.code:
        raise ConfigError(
            f"A worker on {platform.node()} runs other judgelab code than this run: install the "
            "same version on every machine."
        )
    with trusting(model.trusted):
        lm: EvaluationLM = build(json.loads(model.config), "evaluation_lm")
    if lm.identity != model.identity:
        raise ConfigError(
            f"A worker on {platform.node()} would answer as {lm.identity!r}, but the run asks "
            f"{model.identity!r}: give every machine the same model files."
        )
    return lm


@dataclass(eq=False)
class Ray:
    """Workers are Ray actors, placed where their share of CPUs and GPUs is.

    A step of a run is first put to a stand-in that notes its questions. Workers answer them, an
    item's batch at a time, and each batch is kept the moment it arrives: kill -9 of this process
    loses the batches under way. Then the step runs as it always does and finds all it asks for, so
    that results have the bytes of one process. Where questions depend on answers (notes first, then
    texts), that goes round once a stage.

    judgelab has to be installed on every machine, with the same code and the same model files
    (both are checked). Only questions and answers travel; the cache stays with this process.
    """

    address: str | None = None  # of a running cluster; None starts Ray on this machine
    workers: Count | None = None  # None: as many as the cluster holds
    threads: Count = 1  # of the numerical libraries in each worker
    cpus: NotNegative = 1.0  # cpus, gpus: of one worker; a fraction lets several share a GPU
    gpus: NotNegative = 0.0

    def __post_init__(self) -> None:
        if self.cpus + self.gpus <= 0:
            raise ConfigError(
                "scale.cpus and scale.gpus are a worker's share: one must be above 0."
            )
        self._ray: Any = None
        self._ours, self._actors = False, list[Any]()

    def over(self, node: Mapping[str, Any], lm: CachedLM) -> Spread:
        """Spread an LM of this machine, or one that every machine of the cluster can load."""
        if lm.lm.streaming is not None:
            raise ConfigError(
                "scale: an endpoint answers many calls at once already, and its limits and budget "
                "are kept by one process: use scale=local and evaluation_lm.limits.concurrency."
            )
        own = json.dumps({**node, "workers": 1} if "workers" in node else dict(node))

        def spread(ask: Ask) -> None:
            while shards := open_batches(ask, lm):
                model = Model(own, lm.identity, code_digest(), str(Path.cwd()), trusted())
                for index, answers, worker, facts in self.answer(model, shards):
                    lm.accept(dict(zip(shards[index].keys(lm.identity), answers, strict=True)))
                    lm.note_worker(worker, facts)

        return spread

    def answer(self, model: Model, shards: Sequence[Batch]) -> Iterator[Any]:
        """What workers answer (``RayWorker.answer``), in the order of arrival."""
        if not self._actors:
            self._start()
        ray = self._ray
        try:
            yield from ray.util.ActorPool(self._actors).map_unordered(
                lambda actor, job: actor.answer.remote(job[0], model, job[1]),
                list(enumerate(shards)),
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

    def _start(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray = self._ray = require("ray", extra="ray")
        if not ray.is_initialized():
            try:
                address = self.address or "local"
                ray.init(address=address, log_to_driver=False, logging_level="error")
            except ConnectionError as cause:
                raise ConfigError(
                    f"scale.address={self.address}: no Ray cluster answers there: start one with "
                    "'ray start --head', or leave it null for this machine alone."
                ) from cause
            self._ours = True
        room = places(ray.nodes(), {"CPU": self.cpus, "GPU": self.gpus})
        if room < (self.workers or 1):
            raise ConfigError(
                f"The Ray cluster has room for {room} workers of scale.cpus={self.cpus:g} and "
                f"scale.gpus={self.gpus:g}: lower these, or scale.workers."
            )
        actor = ray.remote(
            num_cpus=self.cpus,
            num_gpus=self.gpus,
            max_restarts=RESTARTS,
            max_task_retries=RESTARTS,
            runtime_env={"env_vars": dict.fromkeys(THREADS, str(self.threads))},
            scheduling_strategy="SPREAD",
        )(RayWorker)
        self._actors = [actor.remote() for _ in range(self.workers or room)]


def places(nodes: Sequence[Mapping[str, Any]], need: Mapping[str, float]) -> int:
    """How many workers of this need the living nodes hold; none is split over two nodes."""
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    needs = {name: amount for name, amount in need.items() if amount}
    return sum(
        min(int(have.get(name, 0) / amount + 1e-9) for name, amount in needs.items())
        for have in alive
    )
