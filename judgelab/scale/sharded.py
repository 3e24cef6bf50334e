"""What joblib and ray share: collect what is missing, have it answered, keep the answers."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError
from judgelab.core.lm import LogProbTable
from judgelab.scale.protocol import Ask, Spread
from judgelab.scale.shards import Answers, PairShard, Shard, missing
from judgelab.scale.worker import Answered, Model
from judgelab.store.cached_lm import Cached
from judgelab.store.fingerprint import code_digest


class Sharded(ABC):
    """Workers answer, each with an LM of its own; this process keeps every answer and scores.

    A step of a run is first put to a stand-in that notes its questions. Workers answer them, an
    item's batch at a time, and each batch is kept the moment it arrives: kill -9 of this process
    loses the batches under way. Then the step runs as it always does and finds all it asks for.
    So no mechanism knows of workers, what crosses items (folds, partners) is settled before
    anything is split, and results have the bytes of one process. Where questions depend on
    answers (notes first, then texts), that goes round once a stage.
    """

    def __init__(self, workers: int | None, threads: int) -> None:
        if threads < 1 or (workers is not None and workers < 1):
            raise ConfigError(
                "scale.workers must be at least 1, or null for all there are, and scale.threads "
                "at least 1."
            )
        self.workers, self.threads = workers, threads

    @abstractmethod
    def answer(self, model: Model, shards: Sequence[Shard]) -> Iterator[tuple[int, Answered]]:
        """(index of the shard, its answers) in the order of arrival.

        Raises:
            JudgelabError: what a worker refuses, or that one died.
        """

    @abstractmethod
    def close(self) -> None:
        """Give back processes and connections."""

    def over(self, node: Mapping[str, Any], lm: Cached) -> Spread:
        """Spread an LM of this machine, or one that every machine of the cluster can load.

        Raises:
            ConfigError: the LM is an endpoint: it asks many calls at once from one process, and
                its limits, meter and budget hold there.
        """
        if lm.lm.streaming is not None:
            raise ConfigError(
                "scale: an endpoint answers many calls at once already, and its limits and budget "
                "are kept by one process: use scale=local and evaluation_lm.limits.concurrency."
            )
        own = {**node, "workers": 1} if "workers" in node else dict(node)

        def spread(ask: Ask) -> None:
            model: Model | None = None
            while shards := missing(ask, lm):
                model = model or Model(json.dumps(own), lm.identity, code_digest(), str(Path.cwd()))
                for index, answered in self.answer(model, shards):
                    _accept(lm, shards[index], answered.answers)
                    lm.note_worker(answered.worker, answered.facts)

        return spread


def _accept(lm: Cached, shard: Shard, answers: Answers) -> None:
    if isinstance(shard, PairShard):
        assert isinstance(answers, LogProbTable)
        lm.accept_logprobs(shard.contexts, shard.targets, shard.pairs, answers)
    else:
        assert isinstance(answers, list)
        lm.accept_chats(shard.requests, answers)
