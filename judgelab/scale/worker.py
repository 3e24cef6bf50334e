"""What runs in a worker: one LM for as long as the process lives, and shards to answer."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from judgelab.config import build
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.scale.shards import Answers, PairShard, Shard
from judgelab.store.fingerprint import code_digest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""The environment by which numerical libraries learn how many threads they may start."""


@dataclass(frozen=True)
class Model:
    """The LM that a worker has to be.

    Attributes:
        config: its config node, JSON.
        identity: what the run's own LM says of itself.
        code: digest of the run's judgelab sources.
        folder: the run's working directory, for relative paths in the config.
    """

    config: str
    identity: str
    code: str
    folder: str


@dataclass(frozen=True)
class Answered:
    """A shard's answers, in its order, and what the worker's LM says of its work so far."""

    answers: Answers
    worker: str
    facts: dict[str, Any]


def answer(model: Model, shard: Shard) -> Answered:
    """Answer a shard.

    Raises:
        ConfigError: this machine has other code, or other files behind the model's name.
        JudgelabError: whatever the LM itself refuses.
    """
    lm = _lm(model)
    answers: Answers
    if isinstance(shard, PairShard):
        answers = lm.logprob(shard.contexts, shard.targets, shard.pairs)
    else:
        answers = lm.chat(shard.requests)
    return Answered(answers, f"{platform.node()}:{os.getpid()}", dict(lm.facts))


@lru_cache(maxsize=1)  # loading a model takes longer than a shard: a process keeps the last one
def _lm(model: Model) -> EvaluationLM:
    if Path(model.folder).is_dir():
        os.chdir(model.folder)
    if code_digest() != model.code:
        raise ConfigError(
            f"A worker on {platform.node()} runs other judgelab code than this run: install the "
            "same version on every machine."
        )
    lm: EvaluationLM = build(json.loads(model.config), "evaluation_lm")
    if lm.identity != model.identity:
        raise ConfigError(
            f"A worker on {platform.node()} would answer as {lm.identity!r}, but the run asks "
            f"{model.identity!r}: give every machine the same model files."
        )
    return lm
