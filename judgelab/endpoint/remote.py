"""LMs behind a network: their answers arrive one by one, and each was paid for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgelab.core.lm import ChatRequest, EvaluationLM, LogProb, LogProbTable, Pairs, Reply
from judgelab.endpoint.limits import Limits
from judgelab.endpoint.meter import Meter
from judgelab.store.cached_lm import table_of


class Remote(EvaluationLM, ABC):
    """An evaluation LM that hands over each answer as it arrives, so that it can be kept at once.

    Limits, retries and the meter work below, on attempts: a wrapper around the LM would see calls,
    and miss the retries that cost money too.
    """

    model: str
    limits: Limits

    @property
    def streaming(self) -> Remote:
        """Itself."""
        return self

    @abstractmethod
    def attach(self, meter: Meter) -> None:
        """Note every attempt in this meter from now on, and keep to its budget."""

    @abstractmethod
    def keep(self, path: Path) -> None:
        """Keep parts of answers in this call cache from now on."""

    @abstractmethod
    def stream_chat(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Reply]]:
        """(index of the request, reply) in the order of arrival."""

    @abstractmethod
    def stream_logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> Iterator[tuple[int, LogProb]]:
        """(index of the pair, its log-probability) in the order of arrival."""

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request, in order."""
        replies = dict(self.stream_chat(requests))
        return [replies[index] for index in range(len(requests))]

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats for every (c, t) of ``pairs``."""
        rows = dict(self.stream_logprob(contexts, targets, pairs))
        return table_of([rows[index] for index in range(len(pairs))])
