"""vLLM's engine in this process, for machines with a GPU (extra ``gpu``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.capability import Capability
from judgelab.errors import ConfigError, require
from judgelab.evaluation_lm.protocol import ChatRequest, LogProbTable, Pairs, Reply
from judgelab.scoring.source import Source, fetch_weights, find

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 1024  # tokens of a reply whose request sets no bound


class VLLM:
    """Chat and log-probabilities of given texts by vLLM's offline engine.

    Every pair is a prompt of its own: vLLM computes the log-probabilities of a prompt's tokens
    only where it does not take them from its prefix cache, so a context is read once for each
    target. For all pairs of many texts ``evaluation_lm=transformers`` does less work; this one is
    for long replies, and for models that only vLLM runs. Prefix caching is off.

    Args:
        model: a folder, or a name on the Hub.
        revision: on the Hub, a commit, tag or branch; the commit it leads to is recorded.
        dtype: of weights and activations, as vLLM calls it.
        quantization: as vLLM calls it; None for what the weights say.
        max_length: tokens of prompt and reply; None for the model's own.
        tensor_parallel: GPUs that share the model.
        memory_share: of the GPU's memory that vLLM may take.

    Raises:
        ConfigError: no model.
    """

    def __init__(
        self,
        model: str | None,
        revision: str | None = None,
        dtype: str = "auto",
        quantization: str | None = None,
        max_length: int | None = None,
        tensor_parallel: int = 1,
        memory_share: float = 0.9,
    ) -> None:
        if model is None:
            raise ConfigError("evaluation_lm.model is missing: give evaluation_lm.model=NAME.")
        self.model, self.revision, self.dtype = model, revision, dtype
        self.quantization, self.max_length = quantization, max_length
        self.tensor_parallel, self.memory_share = tensor_parallel, memory_share
        self.scored_jointly = 0  # pairs whose context and target share a token

    capabilities = frozenset({Capability.CHAT, Capability.LOGPROB})

    @cached_property
    def _source(self) -> Source:
        return find(self.model, self.revision)

    @property
    def identity(self) -> str:
        """Exactly which weights, dtype, quantisation and length."""
        return (
            f"vllm model={self._source.name} dtype={self.dtype} "
            f"quantization={self.quantization or 'as stored'} max_length={self.max_length}"
        )

    @cached_property
    def _engine(self) -> Any:
        """The engine, loaded at first use."""
        engine = require("vllm", extra="gpu").LLM
        return engine(
            model=str(fetch_weights(self.model, self._source).folder),
            dtype=self.dtype,
            quantization=self.quantization,
            max_model_len=self.max_length,
            tensor_parallel_size=self.tensor_parallel,
            gpu_memory_utilization=self.memory_share,
            enable_prefix_caching=False,
            trust_remote_code=False,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """Nothing to tell."""
        return {}

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """Sum over the target's tokens given the context's, nats.

        Where a token runs across the boundary, log P(xy) - log P(x), counted in
        ``scored_jointly``.
        """
        encode = self._engine.get_tokenizer().encode
        before = {c: list(encode(contexts[c])) for c in {c for c, _ in pairs}}
        joint = [list(encode(contexts[c] + targets[t])) for c, t in pairs]
        clean = [
            whole[: len(before[c])] == before[c] for whole, (c, _) in zip(joint, pairs, strict=True)
        ]
        alone = sorted({c for (c, _), fits in zip(pairs, clean, strict=True) if not fits})
        values = self._prompts([*joint, *(before[c] for c in alone)])
        sums = {c: math.fsum(row[1:]) for c, row in zip(alone, values[len(joint) :], strict=True)}
        total = np.full(len(pairs), math.nan)
        tokens = np.zeros(len(pairs), dtype=np.int64)
        for index, (c, _) in enumerate(pairs):
            row = values[index]
            tokens[index] = len(row) - len(before[c])
            if clean[index]:
                total[index] = math.fsum(row[len(before[c]) :])
            else:
                total[index] = math.fsum(row[1:]) - sums[c]
        self.scored_jointly += len(pairs) - sum(clean)
        return LogProbTable(total, tokens)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request; one that is cut or empty is unscored."""
        parameters = require("vllm", extra="gpu").SamplingParams
        settings = [
            parameters(
                temperature=request.temperature,
                max_tokens=request.max_tokens or LONGEST,
                seed=request.repeat,
                logprobs=request.top_logprobs or None,
            )
            for request in requests
        ]
        talks = [[{"role": m.role, "content": m.content} for m in r.messages] for r in requests]
        outputs = self._engine.chat(talks, settings, use_tqdm=False)
        return [_reply(output, request) for output, request in zip(outputs, requests, strict=True)]

    def close(self) -> None:
        """Let go of the engine and its memory."""
        self.__dict__.pop("_engine", None)

    def _prompts(self, prompts: Sequence[Sequence[int]]) -> list[list[float]]:
        """log P of every token of every prompt given those before it; NaN for the first."""
        parameters = require("vllm", extra="gpu").SamplingParams
        settings = parameters(max_tokens=1, temperature=0.0, prompt_logprobs=0)
        asked = [{"prompt_token_ids": list(ids)} for ids in prompts]
        outputs = self._engine.generate(asked, settings, use_tqdm=False)
        return [
            [_value(row, token) for row, token in zip(output.prompt_logprobs, ids, strict=True)]
            for output, ids in zip(outputs, prompts, strict=True)
        ]


def _value(row: Mapping[int, Any] | None, token: int) -> float:
    return math.nan if row is None else float(row[token].logprob)


def _reply(output: Any, request: ChatRequest) -> Reply:
    made = output.outputs[0]
    tokens = (len(output.prompt_token_ids), len(made.token_ids))
    if made.finish_reason == "length":
        reason = f"cut at {request.max_tokens or LONGEST} tokens"
        return Reply(None, reason, *tokens, settled=True)
    if not made.text.strip():
        return Reply(None, "empty answer", *tokens, settled=True)
    found = tuple(
        tuple((str(entry.decoded_token), float(entry.logprob)) for entry in token.values())
        for token in made.logprobs or ()
    )
    return Reply(made.text, None, *tokens, top_logprobs=found)
