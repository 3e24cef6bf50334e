"""vLLM's engine in this process, for machines with a GPU (extra ``gpu``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgelab.core.errors import require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, ChatRequest, Reply
from judgelab.scoring.encode import DATE, LocalLM, Template, no_room
from judgelab.scoring.prefix_tree import Job
from judgelab.scoring.source import ModelSource, fetch_weights, find, stored_quantization

LONGEST = 1024  # tokens of a reply whose request sets no bound


@dataclass(eq=False)
class VLLM(LocalLM):
    """Chat and log-probabilities of given texts by vLLM's offline engine.

    Every pair is a prompt of its own: vLLM computes the log-probabilities of a prompt's tokens
    only where it does not take them from its prefix cache, so a context is read once for each
    target. For all pairs of many texts ``evaluation_lm=transformers`` does less work; this one is
    for long replies, and for models that only vLLM runs. Prefix caching is off.
    """

    capabilities = frozenset({Capability.CHAT, Capability.LOGPROB})

    model: str
    revision: str | None = None
    dtype: str = "auto"
    quantization: str | None = None
    max_length: int | None = None
    tensor_parallel: int = 1
    memory_share: float = 0.9
    template: Template = "none"
    system: str | None = None
    end_token: bool | None = None

    @cached_property
    def _source(self) -> ModelSource:
        return find(self.model, self.revision)

    @property
    def identity(self) -> str:
        """Exactly which weights, dtype, quantisation, length, and how texts are put to it."""
        return (
            f"vllm model={self._source.name} dtype={self.dtype} "
            f"quantization={self.quantization or 'as stored'} max_length={self.max_length} "
            f"template_date={DATE.isoformat()} {self._framing}"
        )

    @property
    def presentation(self) -> Presentation:
        """How texts are put to the model; ``auto`` as a dtype does not say in which precision."""
        quantization = self.quantization or stored_quantization(self._source.folder)
        return self._present(f"vllm {self.model}", self.dtype, quantization)

    @cached_property
    def _engine(self) -> Any:
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

    def close(self) -> None:
        """Let go of the engine and its memory."""
        self.__dict__.pop("_engine", None)

    @property
    def _longest(self) -> int:
        return int(self._engine.llm_engine.model_config.max_model_len) - 1  # one is generated

    def _scores(self, jobs: Sequence[Job]) -> list[float]:
        parameters = require("vllm", extra="gpu").SamplingParams
        settings = parameters(max_tokens=1, temperature=0.0, prompt_logprobs=0)
        prompts = [{"prompt_token_ids": [*context, *target]} for context, target in jobs]
        outputs = self._engine.generate(prompts, settings, use_tqdm=False)
        sums = []
        for (context, target), output in zip(jobs, outputs, strict=True):
            tokens = zip(output.prompt_logprobs[len(context) :], target, strict=True)
            sums.append(math.fsum(float(row[token].logprob) for row, token in tokens))
        return sums

    def _replies(self, prompts: Sequence[str], requests: Sequence[ChatRequest]) -> list[Reply]:
        """The template is rendered here and not by vLLM, which would print the day of the run."""
        parameters = require("vllm", extra="gpu").SamplingParams
        coded = self._tokenizer(list(prompts), add_special_tokens=False)["input_ids"]
        fit = [k for k, ids in enumerate(coded) if len(ids) <= self._longest]  # one stops them all
        settings = [
            parameters(
                temperature=requests[k].temperature,
                max_tokens=requests[k].max_tokens or LONGEST,
                seed=requests[k].repeat,
                logprobs=requests[k].top_logprobs or None,
            )
            for k in fit
        ]
        inputs = [{"prompt_token_ids": list(coded[k])} for k in fit]
        outputs = self._engine.generate(inputs, settings, use_tqdm=False) if fit else []
        fresh = {k: _reply(one, requests[k]) for k, one in zip(fit, outputs, strict=True)}
        return [fresh.get(k) or no_room(len(ids)) for k, ids in enumerate(coded)]


def _reply(output: Any, request: ChatRequest) -> Reply:
    out = output.outputs[0]
    tokens = (len(output.prompt_token_ids), len(out.token_ids))
    if out.finish_reason == "length":
        reason = f"cut at {request.max_tokens or LONGEST} tokens"
        return Reply(None, reason, *tokens, settled=True)
    if not out.text.strip():
        return Reply(None, "empty answer", *tokens, settled=True)
    width, listed = request.top_logprobs, list(out.logprobs or ())
    if out.finish_reason == "stop":
        listed = listed[:-1]  # of the token that ended it, which is not in the text
    return Reply(out.text, None, *tokens, top_logprobs=tuple(_best(t, width) for t in listed))


def _best(token: Mapping[int, Any], width: int) -> tuple[tuple[str, float], ...]:
    """The most likely first; the one drawn is listed by vLLM even where it is not among them."""
    entries = sorted(token.values(), key=lambda entry: -float(entry.logprob))[:width]
    return tuple((str(entry.decoded_token), float(entry.logprob)) for entry in entries)
