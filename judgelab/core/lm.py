"""The interface for evaluation LMs: two verbs, in batches, and the values they carry."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import CapabilityError
from judgelab.core.estimator import Presentation

Key = TypeVar("Key", bound=Hashable)
EMPTY = "empty reply"


class Capability(StrEnum):
    """One verb of an evaluation LM."""

    LOGPROB = "logprob"  # log P(y | x) of a given text
    CHAT = "chat"  # a reply to messages
    LABELS = "labels"  # how likely each of some allowed replies to messages is


Strings = Sequence[str]
Pairs = Sequence[tuple[int, int]]
"""(context index, target index) of every log-probability asked for."""
Keys = Sequence[tuple[str, ...]]  # what each question is about: mechanism or step, item, agents

NOT_ASKED = "not asked: dry run"  # by which a dry run counts what would be asked
WITHOUT_PROBABILITIES = "malformed answer (without the field that logprobs ask for)"
"""Reason of an endpoint that ignores ``ChatRequest.top_logprobs``."""


class LogProb(NamedTuple):
    """log P of one target, summed over its tokens (bytes, for a byte model), nats.

    NaN where it could not be scored, with the reason if that is known; ``settled`` as of a Reply.
    """

    total: float
    tokens: int
    reason: str | None = None
    settled: bool = False


UNKNOWN = LogProb(math.nan, 0)  # of a pair that has not been asked about


@dataclass(frozen=True)
class LogProbTable:
    """log P(target | context) for each pair asked, in its order."""

    rows: Sequence[LogProb]

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """[pairs] nats; NaN where a pair is unscored."""
        return np.array([row.total for row in self.rows], np.float64)

    @cached_property
    def tokens(self) -> NDArray[np.int64]:
        """[pairs] over how many tokens (bytes, for a byte model) the sum is."""
        return np.array([row.tokens for row in self.rows], np.int64)

    @property
    def per_token(self) -> NDArray[np.float64]:
        """[pairs] mean nats per token; NaN where there is no token."""
        return self.total / np.where(self.tokens > 0, self.tokens, np.nan)


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to a chat LM."""

    messages: tuple[Message, ...]
    temperature: float = 0.0  # of sampling; 0 is greedy
    max_tokens: int | None = None  # upper bound on the reply, None for the LM's own
    repeat: int = 0  # which of several independent replies to the same question this is
    top_logprobs: int = 0  # how many alternatives to report for each token of the reply; 0 for none
    # what the question is about (mechanism, item, agents); it does not change the answer
    key: tuple[str, ...] = ()
    # allowed replies to a closed question, put only to LMs with Capability.LABELS: the likeliest is
    # the reply; nothing is generated, and temperature, bound, repeat, top_logprobs do not matter
    labels: tuple[str, ...] = ()
    # JSON schema of the reply, which an endpoint is asked to keep to where it can; "" of free text
    schema: str = ""


@dataclass(frozen=True)
class Reply:
    """One answer, or the reason why there is none."""

    text: str | None  # what the LM wrote; None for a refused, filtered or failed call
    reason: str | None = None  # why there is none
    input_tokens: int | None = None  # as the LM counted them; None where it does not say
    output_tokens: int | None = None
    # the call is over, though without a usable text (refused, filtered, empty, cut, malformed, a
    # final HTTP 4xx): asking again would only pay again. A call that failed (an outage, retries
    # exhausted) or was not sent is unsettled: the same command asks it again
    settled: bool = False
    # for each token of the reply the alternatives (text, nats), the LM's most likely first; empty
    # where none were asked for
    top_logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    # for each label of the request (label, nats) that the reply begins with it, and with no longer
    # one of them. What their sum lacks of 1 begins with none of them
    label_logprobs: tuple[tuple[str, float], ...] = ()
    model: str | None = None  # what answered, as a server calls it; None where none says so


class EvaluationLM(Protocol):
    """An LM that measures or judges. Derive from it: what does not concern an LM has a default."""

    adapter: str | None = None
    """Folder of the LoRA adapter that the model wears."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """One line that names the LM and all that can change its answers (model, revision, adapter,
        dtype, quantisation, template), and nothing that cannot (batch size, workers, retries): it
        is the LM's part of every cache key."""

    @property
    @abstractmethod
    def capabilities(self) -> frozenset[Capability]:
        """Which verbs work."""

    @property
    def presentation(self) -> Presentation:
        """How texts are put to the model, for the estimator's identity; by default not known."""
        return Presentation(self.identity.split()[0])

    @property
    def facts(self) -> Mapping[str, Any]:
        """How answering went so far (back end, drift, counts), for the manifest; may be empty."""
        return {}

    @property
    def unwrapped(self) -> EvaluationLM:
        """The LM itself, below caches and counters."""
        return self

    @property
    def at_hand(self) -> bool:
        """Whether a call takes time alone, and nothing has to be fetched first."""
        return False

    @property
    def streaming(self) -> StreamingLM | None:
        """The LM itself, where its answers arrive one by one and cost something."""
        return None

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats for every (c, t) of ``pairs``."""
        raise CapabilityError(f"{self.identity.split()[0]} gives no log-probabilities.")

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request, in order."""
        raise CapabilityError(f"{self.identity.split()[0]} answers no messages.")

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Note that a reply says none of what its request asked for; by default nothing is kept."""
        return None

    def about(self, contexts: Strings, targets: Strings, pairs: Pairs, abouts: Keys) -> None:
        """Note what log-probabilities are about, as ``ChatRequest.key`` says it of a request."""
        return None

    def close(self) -> None:
        """Give back processes, memory and connections; by default there are none."""
        return None


@dataclass(frozen=True)
class Exchange(Generic[Key]):
    """Questions and replies. Mechanisms and exams read replies by it alone, so that no reply that
    cannot be read goes without a reason.
    """

    lm: EvaluationLM  # who was asked
    # the questions, by cell; none where the replies follow from a rule
    requests: Mapping[Key, ChatRequest]
    replies: Mapping[Key, Reply]  # what was answered, in the same order

    @classmethod
    def ask(cls, lm: EvaluationLM, requests: Mapping[Key, ChatRequest]) -> Exchange[Key]:
        """Ask, in one batch: the cache of calls keeps what was answered before an interruption."""
        answers = lm.chat(list(requests.values())) if requests else []
        return cls(lm, requests, dict(zip(requests, answers, strict=True)))

    def read(
        self, read: Callable[[Key, Reply], float], why: Callable[[Key, str], str]
    ) -> dict[Key, float]:
        """What each reply says by ``read``; NaN where it says none of what was asked, which is
        noted by ``why`` of its text ('' where nothing is wrong with it)."""
        values = {key: read(key, reply) for key, reply in self.replies.items()}
        for key, value in values.items():
            text = self.replies[key].text
            if text is not None and math.isnan(value):
                self.unread(key, why(key, text) if text.strip() else EMPTY)
        return values

    def unread(self, key: Key, reason: str) -> None:
        """Note a reply as unread; without a reason, or of a rule, there is nothing to note."""
        if reason and key in self.requests:
            self.lm.unread(self.requests[key], self.replies[key], reason)


def is_lm(value: object) -> bool:
    """Whether a value derives from ``EvaluationLM``; none of its properties is evaluated."""
    return EvaluationLM in type(value).__mro__


class WrappedLM(EvaluationLM):
    """An LM around another one, which it names and speaks for; verbs are the wrapper's own."""

    identity = property(attrgetter("lm.identity"))
    capabilities = property(attrgetter("lm.capabilities"))
    presentation = property(attrgetter("lm.presentation"))
    facts = property(attrgetter("lm.facts"))
    unwrapped = property(attrgetter("lm.unwrapped"))
    at_hand = property(attrgetter("lm.at_hand"))

    def __init__(self, lm: EvaluationLM) -> None:
        self.lm, self.adapter = lm, lm.adapter

    def unread(self, *of_call: Any) -> None:
        """The wrapped LM notes it."""
        self.lm.unread(*of_call)

    def about(self, *of_calls: Any) -> None:
        """The wrapped LM notes it."""
        self.lm.about(*of_calls)

    def close(self) -> None:
        """Close the wrapped LM."""
        self.lm.close()


class StreamingLM(EvaluationLM, Protocol):
    """An LM whose answers arrive one by one and cost something: each can be kept at once."""

    def keep(self, path: Path) -> None:
        """Answers are kept in this call cache from now on: its processes share the LM's limits."""

    def stream_chat(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Reply]]:
        """(index of the request, reply) in the order of arrival."""

    def stream_logprob(
        self, contexts: Strings, targets: Strings, pairs: Pairs
    ) -> Iterator[tuple[int, LogProb]]:
        """(index of the pair, its log-probability) in the order of arrival."""
