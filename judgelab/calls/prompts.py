"""log P(target | context) of pairs, asked of a completions endpoint that reports its prompt's.

Texts go as they are (``RawPrompts``), or rendered and tokenised here by the model's own template
and tokenizer (``FramedPrompts``): a sum is then that of a local model.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any, Literal
from unicodedata import normalize

from judgelab.calls.batch import digest
from judgelab.calls.cache import CallCache
from judgelab.calls.caller import Caller
from judgelab.calls.sending import Call, EndpointError, UnusableError, count, estimate, finite
from judgelab.core.errors import CapabilityError
from judgelab.core.lm import LogProb, Pairs, Strings
from judgelab.scoring.encode import IMITATING, Encoder
from judgelab.scoring.prefix_tree import Ids, Job

Mode = Literal["none", "echo", "prompt"]
PROBE = "The lighthouse keeper counted the ships twice before the fog came in, and then"
GENERATED = 8  # tokens of the probe
DRAWS = 4  # texts it may draw: one can read back as other tokens (" f", "ly" as " fly")
BROKEN = "\ufffd"  # a token that ends inside a character: the text no longer says which it was
TOLERANCE = 0.15  # nats a token: prefill and decoding differ by rounding, an error by nats
SPECIAL = 3  # tokens that a server may put before a prompt
NAMELESS = 64  # characters that a first token may be which has neither a name nor a value
FOREIGN = re.compile(r"[^\x00-\x7f]*")  # characters of more than one byte
CONTEXT, TARGET = "Which ships came in before the fog did?\n", "Two of them, said the keeper."
OTHERS = "malformed answer (the tokens that it reports are not the prompt's)"
GAP = "malformed answer (a token lacks its log-probability)"
MISREAD = "the server read another number of tokens: it cuts prompts"
Jobs = Sequence[Callable[[], Awaitable[LogProb]]]


@dataclass(frozen=True)
class ScoredPrompt:
    """The tokens of a prompt and log P of each given those before it; None for the first."""

    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]

    @property
    def whole(self) -> bool:
        """Whether every token but the first has its log-probability."""
        return None not in self.logprobs[1:]

    def total(self, start: int) -> tuple[float, int]:
        """(sum, how many tokens) from one on, in nats; NaN where one is missing."""
        values = self.logprobs[start:]
        return math.fsum(math.nan if v is None else v for v in values), len(values)


def scoring_body(model: str, mode: Mode, prompt: str | Sequence[int]) -> dict[str, Any]:
    """A request for the log-probabilities of a text or tokens, and one token more."""
    payload = prompt if isinstance(prompt, str) else list(prompt)
    body: dict[str, Any] = {"model": model, "prompt": payload, "max_tokens": 1, "temperature": 0.0}
    if mode == "echo":
        return body | {"echo": True, "logprobs": 1}
    return body | {"extra_body": {"prompt_logprobs": 0}}


def read_prompt(body: Mapping[str, Any], mode: Mode) -> ScoredPrompt:
    """The prompt's part of an answer; UnusableError where it is absent or of another length."""
    try:
        if mode == "prompt":
            rows = body["choices"][0]["prompt_logprobs"]
            if any(row is not None and len(row) != 1 for row in rows):
                raise UnusableError("it reports alternatives beside the prompt's tokens")
            entries = [next(iter(row.values())) if row else {} for row in rows]
            tokens = [entry.get("decoded_token") or "" for entry in entries]
            return _scored_prompt(tokens, [entry.get("logprob") for entry in entries])
        prompt_tokens = count(body["usage"]["prompt_tokens"])
        if prompt_tokens is None:
            raise UnusableError("it does not say how many tokens the prompt is")
        parts = body.get("prompt") or body["choices"]  # some have a list of its own
        tokens, values = parts[0]["logprobs"]["tokens"], parts[0]["logprobs"]["token_logprobs"]
        if not isinstance(tokens, list) or not isinstance(values, list):
            raise TypeError
    except (KeyError, TypeError, IndexError, AttributeError) as cause:
        fields = "echo and logprobs" if mode == "echo" else "prompt_logprobs"
        raise UnusableError(f"it answers without the field that {fields} ask for") from cause
    if len(tokens) != len(values) or len(tokens) < prompt_tokens:
        raise UnusableError("it reports log-probabilities of its own tokens, not of the prompt's")
    return _scored_prompt(tokens[:prompt_tokens], values[:prompt_tokens])


def _scored_prompt(tokens: Sequence[Any], values: Sequence[Any]) -> ScoredPrompt:
    if not tokens:
        raise UnusableError("it reports no token of the prompt")
    if not all(isinstance(token, str) for token in tokens):
        raise UnusableError("it reports tokens that are not texts")
    return ScoredPrompt(tuple(tokens), tuple(None if v is None else finite(v) for v in values))


def is_of(prompt: ScoredPrompt, text: str) -> bool:
    """Whether the tokens spell the text, behind special ones and as a tokenizer normalises it."""
    texts = dict.fromkeys([text, *(normalize(form, text) for form in ("NFC", "NFKC"))])
    for whole in texts:
        if any(_spell(prompt.tokens[special:], whole) for special in range(SPECIAL)):
            return True
        if prompt.tokens[0] or prompt.logprobs[0] is not None:
            continue
        # a first token without a name and a value may be any first characters
        if any(_spell(prompt.tokens[1:], whole[n:]) for n in range(1, min(NAMELESS, len(whole)))):
            return True
    return False


def _spell(tokens: Sequence[str], text: str) -> bool:
    spelling = "".join(tokens)
    if BROKEN not in spelling:
        return spelling == text
    if len(spelling) > 4 * len(text):
        return False
    places = {0}
    for k, part in enumerate(re.split(f"({BROKEN}+)", spelling)):
        if k % 2:  # of characters that take up to four bytes each
            least, most = -(-len(part) // 4), len(part)
            spans = ((p, FOREIGN.match(text, p, p + most)) for p in places)
            places = {e for p, m in spans if m for e in range(p + least, m.end() + 1)}
        else:
            places = {p + len(part) for p in places if text.startswith(part, p)}
    return len(text) in places


def _starts(tokens: Sequence[str], prompt: str) -> Iterator[int]:
    """Where a token may start exactly behind the prompt: after special ones, or a nameless one."""
    begins = [(special, prompt) for special in range(SPECIAL)]
    if tokens and not tokens[0]:  # nameless, and the prompt's own first where none precedes it
        begins += [(1, prompt[n:]) for n in range(1, min(NAMELESS, len(prompt)))]
    for start, expected in begins:
        length = 0
        while start < len(tokens) and length < len(expected):
            length += len(tokens[start])
            start += 1
        if length == len(expected) and "".join(tokens[:start]).endswith(expected):
            yield start


def split(prompt: ScoredPrompt, context: str, target: str) -> tuple[float, int] | None:
    """(sum in nats, tokens) of the target, where a token starts exactly at it; else None."""
    for start in _starts(prompt.tokens, context):
        if "".join(prompt.tokens[start:]) == target:
            if not context and not prompt.tokens[start] and prompt.logprobs[start] is None:
                start += 1  # a nameless first token is a special one
            return prompt.total(start)
    return None


async def probe(caller: Caller, model: str, mode: Mode) -> None:
    """Ask for a few tokens with their log-probabilities, then for those of prompt and tokens.

    The same tokens must get the same values both ways: UnusableError of a server that ignores the
    field, or reads the distribution one position off.
    """
    generate = {"model": model, "prompt": PROBE, "max_tokens": GENERATED, "temperature": 1.0}
    for _ in range(DRAWS):
        first = await _ask(caller, generate | {"logprobs": 1}, "logprobs")
        try:
            choice = first["choices"][0]
            logprobs = choice["logprobs"]
            own = _scored_prompt(logprobs["tokens"], logprobs["token_logprobs"])
            second = await _ask(caller, scoring_body(model, mode, PROBE + choice["text"]), mode)
            echo = read_prompt(second, mode)
        except (KeyError, TypeError, IndexError):
            raise UnusableError("it answers without the field that logprobs asks for") from None
        plain = list(takewhile(lambda token: token and BROKEN not in token, own.tokens))
        for start in _starts(echo.tokens, PROBE):
            n = len(list(takewhile(bool, map(str.__eq__, echo.tokens[start:], plain))))
            if n:
                pairs = zip(echo.logprobs[start : start + n], own.logprobs[:n], strict=True)
                gaps = [math.inf if None in (a, b) else abs(a - b) for a, b in pairs]  # type: ignore[operator]
                if sum(gaps) / n <= TOLERANCE:
                    return
                raise UnusableError(
                    "a text it wrote itself gets other log-probabilities when read back "
                    f"({sum(gaps) / n:.2f} nats a token apart), so they belong to other positions"
                )
    raise UnusableError("the tokens it drew are not those it reads back")


async def _ask(caller: Caller, body: dict[str, Any], what: str) -> dict[str, Any]:
    tokens = (estimate([body["prompt"]]), int(body["max_tokens"]))
    answer = await caller.call(Call("completions", body, ("probe", what), tokens))
    if answer.body is None and not answer.settled:
        raise EndpointError(f"{caller.where} could not be tried ({answer.reason}).")
    if answer.body is None:
        raise UnusableError(answer.reason or "no answer")
    return answer.body


Outcome = ScoredPrompt | LogProb  # a prompt's tokens, or the row of a pair that it says nothing of
Alone = dict[str, asyncio.Task[Outcome]]  # contexts that are asked by themselves


class RawPrompts:
    """One prompt a pair, plus one a context where it cannot be told where the target starts.

    A target is scored on the tokens that start after the context. Where a token runs across the
    boundary this is log P(xy) - log P(x), each in its own tokens; a local model (see
    ``scoring.encode``) charges the target the whole token: they differ by the last tokens of x.
    Of a pair that takes two prompts each is kept in ``cache``, under the LM's ``name``, so that a
    later run pays for the other alone.
    """

    cache: CallCache | None = None

    def __init__(self, model: str, mode: Mode, name: str = "") -> None:
        self.model, self.mode, self._name = model, mode, name

    async def settle(self, caller: Caller) -> None:
        """Find out whether the server can do it, and how (raises CapabilityError: it cannot)."""
        try:
            await probe(caller, self.model, self.mode)
        except UnusableError as cause:
            raise CapabilityError(
                f"{caller.where} gives no usable log-probabilities of a prompt: {cause}. Use "
                "evaluation_lm.logprobs=none and a mechanism that chats, or another server (vLLM "
                "has them)."
            ) from None

    def jobs(self, caller: Caller, contexts: Strings, targets: Strings, pairs: Pairs) -> Jobs:
        """For each pair what yields (sum in nats, tokens), NaN where it could not be scored."""
        alone: Alone = {}
        return [partial(self._score, caller, contexts[c], targets[t], alone) for c, t in pairs]

    async def _score(self, caller: Caller, context: str, target: str, alone: Alone) -> LogProb:
        if not target:
            return LogProb(0.0, 0)
        joint = await self._ask_text(caller, context + target)
        if isinstance(joint, LogProb):
            return joint
        if (sums := split(joint, context, target)) is not None:
            return _sum(*sums)
        if not context:
            return _unscored(MISREAD)
        if context not in alone:
            alone[context] = asyncio.create_task(self._ask_text(caller, context, keep=True))
        before = await alone[context]
        if isinstance(before, LogProb):
            self._keep(context + target, joint)
            return before
        length = len(before.tokens)
        if joint.tokens[:length] == before.tokens:
            return _sum(*joint.total(length))
        both, first = joint.total(1), before.total(1)  # they merge at the boundary
        return _sum(both[0] - first[0], both[1] - first[1])

    async def _ask(self, caller: Caller, prompt: str | Ids) -> Outcome:
        body = scoring_body(self.model, self.mode, prompt)
        size = estimate([prompt]) if isinstance(prompt, str) else len(prompt)
        answer = await caller.call(Call("completions", body, ("logprob",), (size, 1)))
        if answer.body is None:
            return _unscored(answer.reason, answer.settled)
        try:
            return read_prompt(answer.body, self.mode)
        except UnusableError as cause:
            return _unscored(f"malformed answer ({cause})")

    async def _ask_text(self, caller: Caller, text: str, keep: bool = False) -> Outcome:
        earlier = self._load(text)
        outcome = earlier if earlier and earlier.whole else await self._ask(caller, text)
        if isinstance(outcome, ScoredPrompt) and not is_of(outcome, text):
            return _unscored(OTHERS)
        if isinstance(outcome, ScoredPrompt) and keep:
            self._keep(text, outcome)
        return outcome

    def _load(self, text: str) -> ScoredPrompt | None:
        """What an earlier run kept of this prompt."""
        if self.cache is None:
            return None
        key = self._key(text)
        row = self.cache.get([key]).get(key)
        if row is None:
            return None
        values = json.loads(row)
        return ScoredPrompt(tuple(values["tokens"]), tuple(values["logprobs"]))

    def _keep(self, text: str, prompt: ScoredPrompt) -> None:
        if self.cache is not None and prompt.whole:  # one with a gap would be asked for again
            values = {"tokens": prompt.tokens, "logprobs": prompt.logprobs}
            self.cache.add({self._key(text): json.dumps(values)})

    def _key(self, text: str) -> bytes:
        return digest(json.dumps(["prompt", self._name, text]))


class FramedPrompts(RawPrompts):
    """Pairs as token sequences of the model's own tokenizer, sent as tokens."""

    def __init__(self, model: str, mode: Mode, encoder: Encoder) -> None:
        super().__init__(model, mode)
        self.encoder = encoder
        self._texts: dict[int, str | None] = {}  # of tokens; None of those without a text

    async def settle(self, caller: Caller) -> None:
        """Find out also whether the server reads the tokens that are meant."""
        await super().settle(caller)
        (job,) = self.encoder.encode([CONTEXT], [TARGET], [(0, 0)])
        assert job is not None
        outcome = await self._ask(caller, (*job[0], *job[1]))
        if isinstance(outcome, ScoredPrompt):
            text = "".join(outcome.tokens[len(job[0]) :]).strip()
            whole = outcome.whole and len(outcome.tokens) == len(job[0]) + len(job[1])
            if whole and text.startswith(TARGET):
                return
        elif not outcome.settled:
            raise EndpointError(f"{caller.where} could not be tried ({outcome.reason}).")
        raise CapabilityError(
            f"{caller.where} reads other tokens than the model's tokenizer makes of a rendered "
            "text: is evaluation_lm.tokenizer that of the model which answers there, and does it "
            "take tokens? Else use evaluation_lm.template=none and end_token=null."
        )

    def jobs(self, caller: Caller, contexts: Strings, targets: Strings, pairs: Pairs) -> Jobs:
        """See ``RawPrompts``."""
        jobs = self.encoder.encode(contexts, targets, pairs)
        return [partial(self._score_job, caller, job) for job in jobs]

    async def _score_job(self, caller: Caller, job: Job | None) -> LogProb:
        if job is None:
            return _unscored(IMITATING)
        if not job[1]:
            return LogProb(0.0, 0)
        outcome = await self._ask(caller, (*job[0], *job[1]))
        if isinstance(outcome, LogProb):
            return outcome
        if len(outcome.tokens) != len(job[0]) + len(job[1]):
            return _unscored(MISREAD)
        if not all(map(self._alike, outcome.tokens, (*job[0], *job[1]))):
            return _unscored(OTHERS)
        return _sum(*outcome.total(len(job[0])))

    def _alike(self, text: str, token: int) -> bool:
        """Whether the server's text of a token is the tokenizer's, as far as both can be spelt."""
        if token not in self._texts:
            words: Any = self.encoder.tokenizer
            own = words.decode([token], clean_up_tokenization_spaces=False)
            special = token in words.all_special_ids or BROKEN in own
            self._texts[token] = None if special else own.strip()
        own = self._texts[token]
        return own is None or BROKEN in text or text.strip() in ("", own)


def _sum(nats: float, tokens: int) -> LogProb:
    return _unscored(GAP) if math.isnan(nats) else LogProb(nats, tokens)


def _unscored(reason: str | None, settled: bool = True) -> LogProb:
    return LogProb(math.nan, 0, reason or "no reason given", settled)
