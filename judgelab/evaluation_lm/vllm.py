"""vLLM's engine in this process, for machines with a GPU (extra ``gpu``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgelab.core.errors import require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, ChatRequest, LogProb, LogProbTable, Pairs, Reply, Strings
from judgelab.scoring.encode import DATE, IMITATING, FramedLM, Framing, Template
from judgelab.scoring.source import ModelSource, fetch_weights, find, stored_quantization

LONGEST = 1024  # tokens of a reply whose request sets no bound


@dataclass(eq=False)
class VLLM(FramedLM):
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

    def __post_init__(self) -> None:
        self.framing = Framing.of(self.template, self.system, self.end_token)

    @cached_property
    def _source(self) -> ModelSource:
        return find(self.model, self.revision)

    @property
    def identity(self) -> str:
        """Exactly which weights, dtype, quantisation, length, and how texts are put to it."""
        return (
            f"vllm model={self._source.name} dtype={self.dtype} "
            f"quantization={self.quantization or 'as stored'} max_length={self.max_length} "
            f"template_date={DATE.isoformat()} {self.framing.identity}"
        )

    @property
    def presentation(self) -> Presentation:
        """How texts are put to the model; ``auto`` as a dtype does not say in which precision."""
        stored = self.quantization or stored_quantization(self._source.folder)
        return self.framing.presentation(f"vllm {self.model}", self.dtype, stored)

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

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """Sum over the target's tokens given the context's, nats: those of
        ``evaluation_lm=transformers``, as our own encoder makes the tokens.
        """
        jobs = self._encoder.encode(contexts, targets, pairs)
        values = self._prompts([() if job is None else (*job[0], *job[1]) for job in jobs])
        rows = [
            LogProb(math.nan, 0, IMITATING, settled=True)
            if job is None
            else _row(math.fsum(row[len(job[0]) :]), len(job[1]))
            for job, row in zip(jobs, values, strict=True)
        ]
        return LogProbTable(rows)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request; one that is cut, empty or imitates control tokens is unscored."""
        parameters = require("vllm", extra="gpu").SamplingParams
        inputs = self.prompts(requests)
        for k, prompt in enumerate(inputs):
            if not isinstance(prompt, Reply) and len(prompt) >= self._longest:  # stops them all
                reason = f"the prompt's {len(prompt)} tokens leave the model no room to answer"
                inputs[k] = Reply(None, reason, settled=True)
        asked = [(p, r) for p, r in zip(inputs, requests, strict=True) if not isinstance(p, Reply)]
        settings = [
            parameters(
                temperature=request.temperature,
                max_tokens=request.max_tokens or LONGEST,
                seed=request.repeat,
                logprobs=request.top_logprobs or None,
            )
            for _, request in asked
        ]
        prompts = [{"prompt_token_ids": ids} for ids, _ in asked]
        outputs = self._engine.generate(prompts, settings, use_tqdm=False) if asked else []
        fresh = (_reply(output, r) for output, (_, r) in zip(outputs, asked, strict=True))
        return [p if isinstance(p, Reply) else next(fresh) for p in inputs]

    def prompts(self, requests: Sequence[ChatRequest]) -> list[list[int] | Reply]:
        """The tokens that each request is put to the model in, or why it is not.

        The template is rendered here and not by vLLM, which would print the day of the run.
        """
        return [
            list(self._tokenizer(one, add_special_tokens=False)["input_ids"])
            if isinstance(one, str)
            else one
            for one in self.rendered(requests)
        ]

    def close(self) -> None:
        """Let go of the engine and its memory."""
        self.__dict__.pop("_engine", None)

    def _prompts(self, prompts: Sequence[Sequence[int]]) -> list[list[float]]:
        """log P of every token of every prompt given those before it; NaN for the first."""
        parameters = require("vllm", extra="gpu").SamplingParams
        settings = parameters(max_tokens=1, temperature=0.0, prompt_logprobs=0)
        fit = [i for i, ids in enumerate(prompts) if 0 < len(ids) < self._longest]
        asked = [{"prompt_token_ids": list(prompts[i])} for i in fit]
        outputs = self._engine.generate(asked, settings, use_tqdm=False)
        values = [[math.nan] * len(ids) for ids in prompts]  # too long: one would stop them all
        for i, output in zip(fit, outputs, strict=True):
            rows = zip(output.prompt_logprobs, prompts[i], strict=True)
            values[i] = [float(row[t].logprob) if row else math.nan for row, t in rows]
        return values

    @property
    def _longest(self) -> int:
        return int(self._engine.llm_engine.model_config.max_model_len)


def _row(nats: float, tokens: int) -> LogProb:
    """A sum; one that holds an unknown value is of a prompt that the model is too short for."""
    if math.isnan(nats):
        return LogProb(nats, tokens, "longer than evaluation_lm.max_length", settled=True)
    return LogProb(nats, tokens)


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
