"""log P(target | context) of pairs, asked of a server that reports log-probabilities of prompts.

Texts go as they are (``RawPrompts``), or rendered and tokenised here by the model's own template
and tokenizer (``FramedPrompts``): the server is then sent the very tokens that a local model is
given, so a sum is the local one's. Where it takes text alone it is sent the tokens' text, without
the first token where it adds that itself. Which of these a server reads as meant is settled by one
prompt whose tokens are known, and every answer must hold as many tokens as were meant.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from judgelab.calls import logprobs
from judgelab.calls.cache import CallCache
from judgelab.calls.caller import Caller
from judgelab.calls.logprobs import Mode, ScoredPrompt, UnusableError
from judgelab.calls.sending import Call, EndpointError, estimate
from judgelab.core.errors import CapabilityError, DataError
from judgelab.core.lm import LogProb, Pairs
from judgelab.scoring.encode import Encoder
from judgelab.scoring.prefix_tree import Ids, Job

Form = Literal["tokens", "text", "text without its first token"]
CONTEXT, TARGET = "Which ships came in before the fog did?\n", "Two of them, said the keeper."
IMITATES = "a text spells out control tokens"
UNSENDABLE = "the server takes text alone and would read other tokens than are meant"
OTHERS = "malformed answer (the tokens that it reports are not the prompt's)"
GAP = "malformed answer (a token lacks its log-probability)"
MISREAD = "the server read another number of tokens: it cuts prompts"
Jobs = Sequence[Callable[[], Awaitable[LogProb]]]
Alone = dict[str, asyncio.Task[ScoredPrompt | LogProb]]
"""Contexts that are asked by themselves, each once a batch."""


class PromptCache:
    """Scored prompts in a call cache, beside the answers.

    A pair that takes two prompts is not an answer until both are there: what came of one is kept,
    so that a later run pays for the other alone. The file is opened by the thread that uses it;
    ``name`` is that of the LM and of how it is asked.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name

    @cached_property
    def _cache(self) -> CallCache:
        return CallCache(self._path)

    def get(self, text: str) -> ScoredPrompt | None:
        """What is known of this prompt (raises DataError: what is kept cannot be read)."""
        key = self._key(text)
        stored = self._cache.chats([key]).get(key)
        if stored is None:
            return None
        try:
            values = json.loads(stored)
            return ScoredPrompt(tuple(values["tokens"]), tuple(values["logprobs"]))
        except (ValueError, TypeError, KeyError) as cause:
            raise DataError(
                f"A prompt in the call cache {self._path} cannot be read: the file is damaged; "
                "move it away, or give another with paths.cache=FILE."
            ) from cause

    def put(self, text: str, scored: ScoredPrompt) -> None:
        """Keep it."""
        values = {"tokens": scored.tokens, "logprobs": scored.logprobs}
        self._cache.add_chats({self._key(text): json.dumps(values)})

    def close(self) -> None:
        """Close the file, if it is open."""
        if "_cache" in self.__dict__:
            self._cache.close()

    def _key(self, text: str) -> bytes:
        whole = json.dumps(["prompt", self._name, text])
        return hashlib.blake2b(whole.encode(), digest_size=16).digest()


class Prompts(ABC):
    """One way to put pairs to a server; ``joint`` counts those that share a token."""

    def __init__(self, model: str, mode: Mode) -> None:
        self.model, self.mode, self.joint = model, mode, 0

    async def settle(self, caller: Caller) -> None:
        """Find out whether the server can do it, and how (raises CapabilityError: it cannot)."""
        await logprobs.probe(caller, self.model, self.mode)

    @abstractmethod
    def jobs(
        self, caller: Caller, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> Jobs:
        """For each pair what yields (sum in nats, tokens), NaN where it could not be scored."""

    async def _ask(self, caller: Caller, prompt: str | Ids) -> ScoredPrompt | LogProb:
        """The prompt's tokens, or the row of a pair that it says nothing of."""
        body = logprobs.scoring_body(self.model, self.mode, prompt)
        size = estimate([prompt]) if isinstance(prompt, str) else len(prompt)
        answer = await caller.call(Call("completions", body, ("logprob",), (size, 1)))
        if answer.body is None:
            return _unscored(answer.reason, answer.settled)
        try:
            return logprobs.read_prompt(answer.body, self.mode)
        except UnusableError as cause:
            return _unscored(f"malformed answer ({cause})")


class RawPrompts(Prompts):
    """One prompt a pair, plus one a context where it cannot be told where the target starts.

    A target is scored on the tokens that start after the context; where a token runs across the
    boundary, log P(xy) - log P(x).
    """

    cache: PromptCache | None = None

    def jobs(
        self, caller: Caller, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> Jobs:
        """See ``Prompts``."""
        alone: Alone = {}
        return [partial(self._score, caller, contexts[c], targets[t], alone) for c, t in pairs]

    async def _score(self, caller: Caller, context: str, target: str, alone: Alone) -> LogProb:
        if not target:
            return LogProb(0.0, 0)
        joint = await self._known(caller, context + target)
        if isinstance(joint, LogProb):
            return joint
        found = logprobs.split(joint, context, target)
        if found is not None:
            return _sum(*found)
        if context and context not in alone:
            alone[context] = asyncio.create_task(self._context(caller, context))
        before = await alone[context] if context else _unscored(MISREAD)
        if isinstance(before, LogProb):
            self._keep(context + target, joint)
            return before
        nats, tokens, clean = logprobs.difference(joint, before)
        self.joint += not clean
        return _sum(nats, tokens)

    async def _context(self, caller: Caller, context: str) -> ScoredPrompt | LogProb:
        found = await self._known(caller, context)
        if isinstance(found, ScoredPrompt):
            self._keep(context, found)
        return found

    async def _known(self, caller: Caller, text: str) -> ScoredPrompt | LogProb:
        known = None if self.cache is None else self.cache.get(text)
        found = known if known and whole(known) else await self._ask(caller, text)
        if isinstance(found, ScoredPrompt) and not logprobs.is_of(found, text):
            return _unscored(OTHERS)
        return found

    def _keep(self, text: str, scored: ScoredPrompt) -> None:
        if self.cache is not None and whole(scored):  # one with a gap would be asked for again
            self.cache.put(text, scored)


def whole(scored: ScoredPrompt) -> bool:
    """Whether every token but the first has its log-probability."""
    return None not in scored.logprobs[1:]


class FramedPrompts(Prompts):
    """Pairs as token sequences of the model's own tokenizer.

    Counted as unscored: ``imitating`` pairs, a text of which spells out control tokens; ``unsent``
    ones, where the server takes text alone and would read other tokens; ``misread`` ones, of which
    the server read another number of tokens (it cuts prompts).
    """

    def __init__(self, model: str, mode: Mode, encoder: Encoder) -> None:
        super().__init__(model, mode)
        self.encoder = encoder
        self.imitating = self.unsent = self.misread = 0
        self.form: Form | None = None
        self._texts: dict[int, str | None] = {}  # of tokens; None of those without a text

    async def settle(self, caller: Caller) -> None:
        """Find also the form in which the server reads the tokens that are meant."""
        await super().settle(caller)
        (job,) = self.encoder.encode([CONTEXT], [TARGET], [(0, 0)]).jobs
        assert job is not None
        forms: tuple[Form, ...] = ("tokens", "text", "text without its first token")
        for form in forms:
            prompt = self._prompt(job, form)
            found = _unscored(UNSENDABLE) if prompt is None else await self._ask(caller, prompt)
            if isinstance(found, LogProb) and not found.settled:
                raise EndpointError(f"{caller.where} could not be tried ({found.reason}).")
            if _as_meant(found, job):
                self.form = form
                return
        raise CapabilityError(
            f"{caller.where} reads other tokens than the model's tokenizer makes of a rendered "
            "text, sent as tokens or as text: is evaluation_lm.tokenizer that of the model which "
            "answers there? Else use evaluation_lm.template=none and end_token=null."
        )

    def jobs(
        self, caller: Caller, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> Jobs:
        """See ``Prompts``."""
        encoded = self.encoder.encode(contexts, targets, pairs)
        self.joint += encoded.joint
        return [partial(self._score, caller, job) for job in encoded.jobs]

    async def _score(self, caller: Caller, job: Job | None) -> LogProb:
        assert self.form is not None
        if job is None:
            self.imitating += 1
            return _unscored(IMITATES)
        prompt = self._prompt(job, self.form)
        if prompt is None:
            self.unsent += 1
            return _unscored(UNSENDABLE)
        if not job[1]:
            return LogProb(0.0, 0)
        scored = await self._ask(caller, prompt)
        if isinstance(scored, LogProb):
            return scored
        if len(scored.logprobs) != len(job[0]) + len(job[1]):
            self.misread += 1
            return _unscored(MISREAD)
        if not all(map(self._alike, scored.tokens, (*job[0], *job[1]))):
            return _unscored(OTHERS)
        return _sum(*logprobs.total(scored.logprobs[len(job[0]) :]))

    def _alike(self, said: str, token: int) -> bool:
        """Whether the server's text of a token is the tokenizer's, as far as both can be spelt."""
        if token not in self._texts:
            words: Any = self.encoder.tokenizer
            own = words.decode([token], clean_up_tokenization_spaces=False)
            special = token in words.all_special_ids or logprobs.BROKEN in own
            self._texts[token] = None if special else own.strip()
        own = self._texts[token]
        return own is None or logprobs.BROKEN in said or said.strip() in ("", own)

    def _prompt(self, job: Job, form: Form) -> Ids | str | None:
        """What is sent; None where the text of the tokens would be read as other tokens."""
        ids: Ids = (*job[0], *job[1])
        if form == "tokens":
            return ids
        words: Any = self.encoder.tokenizer
        rest = ids if form == "text" else ids[1:]
        text = str(words.decode(rest, clean_up_tokenization_spaces=False))
        again = words(text, add_special_tokens=form != "text")["input_ids"]
        return text if tuple(again) == ids else None


def _sum(nats: float, tokens: int) -> LogProb:
    return _unscored(GAP) if math.isnan(nats) else LogProb(nats, tokens)


def _unscored(reason: str | None, settled: bool = True) -> LogProb:
    return LogProb(math.nan, 0, reason or "no reason given", settled)


def _as_meant(scored: ScoredPrompt | LogProb, job: Job) -> bool:
    """Whether it holds our tokens: as many, and the target's text where the target is."""
    if isinstance(scored, LogProb) or len(scored.tokens) != len(job[0]) + len(job[1]):
        return False
    read = "".join(scored.tokens[len(job[0]) :])
    return read.strip().startswith(TARGET) and None not in scored.logprobs[1:]
