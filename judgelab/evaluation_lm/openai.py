"""Any OpenAI-compatible endpoint: hosted models, and servers of one's own."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judgelab.calls.cache import CallCache
from judgelab.calls.caller import Caller
from judgelab.calls.meter import Meter
from judgelab.calls.pace import KeptState, Limits, Pace, rate_file
from judgelab.calls.prompts import FramedPrompts, Mode, RawPrompts
from judgelab.calls.remote import CallLoop, Remote
from judgelab.calls.sending import (
    ASKED,
    Answer,
    TokenLimit,
    chat_call,
    keep_body,
    refuses_format,
    reply_of,
)
from judgelab.core.errors import CapabilityError, ConfigError, require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import (
    WITHOUT_PROBABILITIES,
    Capability,
    ChatRequest,
    LogProb,
    Pairs,
    Reply,
    Strings,
)
from judgelab.scoring.encode import FramedLM, Template
from judgelab.scoring.source import ModelSource, find_tokenizer

SEVERAL = 3  # replies without what was asked for, after which it is no accident
AHEAD = 2  # calls held ready per attempt under way: some of them wait for a retry


@dataclass(eq=False)
class OpenAI(FramedLM, Remote):
    """Chat, and log-probabilities of given texts where the server reports them for its prompt.

    Raises:
        ConfigError: an address or variable that holds a secret itself, or a template or end token
            for an LM that only chats.
    """

    model: str
    base_url: str
    limits: Limits
    api_key_env: str | None = "OPENAI_API_KEY"
    logprobs: Mode = "none"
    server: str | None = None
    token_limit: TokenLimit = "max_tokens"
    extra_body: dict[str, Any] | None = None
    template: Template = "none"
    system: str | None = None
    end_token: bool | None = None
    tokenizer: str | None = None

    def __post_init__(self) -> None:
        env = self.api_key_env
        if env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", env):
            raise ConfigError(
                "evaluation_lm.api_key_env names an environment variable; what it is set to does "
                "not look like a name. Put the key itself into that variable."
            )
        address = urlsplit(self.base_url)
        if address.username or address.password or address.query:
            raise ConfigError(
                "evaluation_lm.base_url holds a user, password or query: put the key into the "
                "environment variable that evaluation_lm.api_key_env names."
            )
        if self.logprobs == "none" and not self._plain:
            raise ConfigError(
                f"evaluation_lm.template={self.template} and end_token say how log-probabilities "
                "are asked for, but evaluation_lm.logprobs=none: set that to prompt or echo, or "
                "leave them as they are."
            )
        self._meter, self._probed = Meter(), False
        self._tell: Callable[[str], None] = lambda words: None
        self._ignored, self._reported = 0, False  # logprobs of a chat
        self._takes_schema: bool | None = None  # whether the server takes response_format
        self._first_schema = asyncio.Lock()
        self._opened: tuple[Caller, CallLoop] | None = None
        self._beside: Path | None = None  # the call cache, where processes share a rate
        self._kept: CallCache | None = None  # of prompts

    @property
    def identity(self) -> str:
        """Model, server and whatever is sent with each request; not how fast, nor which key."""
        address = urlsplit(self.base_url)
        server = self.server or f"{address.netloc}{address.path.rstrip('/')}"
        extra = json.dumps(self.extra_body, sort_keys=True) if self.extra_body else ""
        name = f"openai model={self.model} server={server} {extra}".rstrip()
        if self._plain:
            return name
        return f"{name} {self._framing} tokenizer={self._source.name}"

    @property
    def facts(self) -> dict[str, Any]:
        """Whether it took ``response_format``, where that was asked for."""
        return {} if self._takes_schema is None else {"response_format": self._takes_schema}

    @property
    def presentation(self) -> Presentation:
        """How texts are put to the model; in which precision it computes is the server's affair."""
        return self._present(f"openai {self.model}")

    @property
    def capabilities(self) -> frozenset[Capability]:
        """CHAT, and LOGPROB where configured."""
        chat = frozenset({Capability.CHAT})
        return chat if self.logprobs == "none" else chat | {Capability.LOGPROB}

    @property
    def until(self) -> float | None:
        """When the server wants to be asked again."""
        return None if self._opened is None else self._opened[0].breaker.until

    def attach(self, meter: Meter, tell: Callable[[str], None] = lambda words: None) -> None:
        """Note every attempt there from now on; ConfigError where no key is set."""
        self._key()
        self._meter, self._tell = meter, tell
        if self._opened is not None:
            self._opened[0].attach(meter, tell)

    def keep(self, path: Path) -> None:
        """Keep prompts that are paid for, and share the rate with all that keep theirs there."""
        self._forget()
        self._beside = path
        if self.logprobs != "none" and self._plain:
            self._prompts.cache = self._kept = CallCache(path)

    def stream_chat(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Reply]]:
        """Replies in the order of arrival; see ``Caller`` for what is retried."""
        caller, loop = self._open()

        async def one(request: ChatRequest) -> Reply:
            reply = reply_of(await self._answered(caller, request), request)
            self._check_alternatives(reply)
            return reply

        jobs = [partial(one, request) for request in requests]
        yield from loop.stream(jobs, AHEAD * self.limits.concurrency, caller.halt)

    async def _answered(self, caller: Caller, request: ChatRequest) -> Answer:
        """The answer to a request; one with a schema is asked in words alone where the server takes
        none, which the first such request finds out while the others wait."""

        async def ask(version: ChatRequest) -> Answer:
            extra = self.extra_body or {}
            return await caller.call(chat_call(version, self.model, extra, self.token_limit))

        if not request.schema or self._takes_schema:
            return await ask(request)
        async with self._first_schema:
            if self._takes_schema is None:
                answer = await ask(request)
                if not refuses_format(answer):
                    self._takes_schema = True if answer.body is not None else None
                    return answer
                self._takes_schema = False
                self._tell(f"{self.base_url} takes no response_format: JSON is asked for in words")
        return await ask(replace(request, schema="") if self._takes_schema is False else request)

    def stream_logprob(
        self, contexts: Strings, targets: Strings, pairs: Pairs
    ) -> Iterator[tuple[int, LogProb]]:
        """See ``RawPrompts`` and ``FramedPrompts``.

        Raises:
            CapabilityError: the server has no log-probabilities of prompts, or wrong ones.
        """
        if self.logprobs == "none":
            raise CapabilityError(f"{self.identity} is set to logprobs=none.")
        caller, loop = self._open()
        if not self._probed:
            loop.run(self._prompts.settle(caller))
            self._probed = True
        jobs = self._prompts.jobs(caller, contexts, targets, pairs)
        yield from loop.stream(jobs, AHEAD * self.limits.concurrency, caller.halt)

    def _check_alternatives(self, reply: Reply) -> None:
        """CapabilityError where the first replies that should have had logprobs all lack them."""
        self._ignored += reply.reason == WITHOUT_PROBABILITIES
        self._reported |= bool(reply.top_logprobs)
        if self._ignored >= SEVERAL and not self._reported:
            raise CapabilityError(
                f"{self.base_url} ignores logprobs in chat: its answers lack the field. Use a "
                "server that reports them (OpenAI, vLLM)."
            )

    def close(self) -> None:
        """Close connections, the loop and the meter."""
        self._forget()
        if self._opened is not None:
            caller, loop = self._opened
            loop.run(caller.client.close())
            loop.close()
            caller.pace.close()
            self._opened = None
        self._meter.close()

    def _forget(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._prompts.cache = self._kept = None

    @cached_property
    def _source(self) -> ModelSource:
        return find_tokenizer(self.tokenizer or self.model)

    @cached_property
    def _prompts(self) -> RawPrompts:
        if self._plain:
            name = f"{self.identity} logprobs={self.logprobs}"
            return RawPrompts(self.model, self.logprobs, name)
        return FramedPrompts(self.model, self.logprobs, self._encoder)

    def _open(self) -> tuple[Caller, CallLoop]:
        if self._opened is None:
            openai, key = require("openai", extra="api"), self._key()
            client = openai.AsyncOpenAI(
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"response": [keep_body]}
                ),
                default_headers={"Accept-Encoding": ASKED},
                api_key=key or "none",
                base_url=self.base_url,
                max_retries=0,
                timeout=self.limits.timeout,
            )
            account = self._meter, key, self.base_url, self._tell, self._beside
            caller = Caller(client, self.limits, *account)
            if self._beside is not None:
                file = rate_file(self._beside, self.base_url, self.model, key or "")
                caller.pace = Pace(self.limits, KeptState(file))
            self._opened = caller, CallLoop()
        return self._opened

    def _key(self) -> str | None:
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env)
        if not key and not _loopback(self.base_url):
            raise ConfigError(
                f"{self.base_url} needs a key: set the environment variable {self.api_key_env}, "
                "or evaluation_lm.api_key_env=null where it needs none."
            )
        return key or None


def _loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
