"""log P(y | x) out of a completions endpoint that reports the log-probabilities of its prompt.

Where a token runs across the boundary of x and y this is log P(xy) - log P(x), each in its own
tokens; a local model (``scoring.encode``) charges the target the whole token instead, so that the
two differ by what the last tokens of x alone cost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import normalize

from judgelab.calls.caller import Caller
from judgelab.calls.sending import Call, EndpointError, count, estimate
from judgelab.core.errors import CapabilityError

Mode = Literal["none", "echo", "prompt"]
PROBE = "The lighthouse keeper counted the ships twice before the fog came in, and then"
GENERATED = 8  # tokens of the probe
DRAWS = 4  # texts it may draw: one can read back as other tokens (" f", "ly" as " fly")
BROKEN = "\ufffd"  # a token that ends inside a character: the text no longer says which it was
TOLERANCE = 0.15  # nats a token: prefill and decoding differ by rounding, an error by nats
SPECIAL = 3  # tokens that a server may put before a prompt
NAMELESS = 64  # characters that a first token may be which has neither a name nor a value
LEAST, ROUNDING = -1e4, 1e-3  # nats of a token; a little above 0 for rounding
FOREIGN = re.compile(r"[^\x00-\x7f]*")  # characters of more than one byte


class UnusableError(Exception):
    """The answer does not hold what was asked for; the message says what is missing."""


@dataclass(frozen=True)
class ScoredPrompt:
    """The tokens of a prompt and log P of each given those before it; None for the first."""

    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]


def scoring_body(model: str, mode: Mode, prompt: str | Sequence[int]) -> dict[str, Any]:
    """A request for the log-probabilities of a text or tokens, and one token more."""
    sent = prompt if isinstance(prompt, str) else list(prompt)
    body: dict[str, Any] = {"model": model, "prompt": sent, "max_tokens": 1, "temperature": 0.0}
    if mode == "echo":
        return body | {"echo": True, "logprobs": 1}
    return body | {"extra_body": {"prompt_logprobs": 0}}


def read_prompt(body: Mapping[str, Any], mode: Mode) -> ScoredPrompt:
    """The prompt's part of an answer; UnusableError where it is absent or of another length."""
    try:
        if mode == "prompt":
            return _listed(body["choices"][0]["prompt_logprobs"])
        prompt_tokens = count(body["usage"]["prompt_tokens"])
        if prompt_tokens is None:
            raise UnusableError("it does not say how many tokens the prompt is")
        if body.get("prompt"):  # a list of its own beside the choices
            found = body["prompt"][0]["logprobs"]
        else:
            found = body["choices"][0]["logprobs"]
        tokens, values = found["tokens"], found["token_logprobs"]
        if not isinstance(tokens, list) or not isinstance(values, list):
            raise TypeError
    except (KeyError, TypeError, IndexError, AttributeError) as cause:
        asked = "echo and logprobs" if mode == "echo" else "prompt_logprobs"
        raise UnusableError(f"it answers without the field that {asked} ask for") from cause
    if len(tokens) != len(values) or len(tokens) < prompt_tokens:
        raise UnusableError("it reports log-probabilities of its own tokens, not of the prompt's")
    return _scored(tokens[:prompt_tokens], values[:prompt_tokens])


def _listed(rows: Sequence[Mapping[str, Any] | None]) -> ScoredPrompt:
    tokens: list[str] = []
    values: list[float | None] = []
    for row in rows:
        if row is not None and len(row) != 1:
            raise UnusableError("it reports alternatives beside the prompt's tokens")
        entry = next(iter(row.values())) if row else {}
        tokens.append(entry.get("decoded_token") or "")
        values.append(entry.get("logprob"))
    return _scored(tokens, values)


def _scored(tokens: Sequence[Any], values: Sequence[Any]) -> ScoredPrompt:
    if not tokens:
        raise UnusableError("it reports no token of the prompt")
    if not all(isinstance(token, str) for token in tokens):
        raise UnusableError("it reports tokens that are not texts")
    numbers = tuple(None if v is None else finite(v) for v in values)
    return ScoredPrompt(tuple(tokens), numbers)


def finite(value: Any, least: float = LEAST) -> float:
    """A log-probability of a token; UnusableError where it is none."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not least <= value <= ROUNDING:
        raise UnusableError("it reports log-probabilities that are not numbers of at most 0")
    return float(value)


def is_of(scored: ScoredPrompt, text: str) -> bool:
    """Whether the tokens spell the text, behind special ones and as a tokenizer normalises it."""
    texts = dict.fromkeys([text, *(normalize(form, text) for form in ("NFC", "NFKC"))])
    for whole in texts:
        if any(_spell(scored.tokens[special:], whole) for special in range(SPECIAL)):
            return True
        if scored.tokens[0] or scored.logprobs[0] is not None:
            continue
        if any(_spell(scored.tokens[1:], whole[n:]) for n in range(1, min(NAMELESS, len(whole)))):
            return True
    return False


def _spell(tokens: Sequence[str], text: str) -> bool:
    joined = "".join(tokens)
    if BROKEN not in joined:
        return joined == text
    if len(joined) > 4 * len(text):
        return False
    ends = {0}
    for k, part in enumerate(re.split(f"({BROKEN}+)", joined)):
        if k % 2:  # of characters that take up to four bytes each
            least, most = -(-len(part) // 4), len(part)
            spans = ((p, FOREIGN.match(text, p, p + most)) for p in ends)
            ends = {e for p, m in spans if m for e in range(p + least, m.end() + 1)}
        else:
            ends = {p + len(part) for p in ends if text.startswith(part, p)}
    return len(text) in ends


def split(scored: ScoredPrompt, context: str, target: str) -> tuple[float, int] | None:
    """(sum in nats, tokens) of the target, where a token starts exactly at it; else None."""
    for special in range(min(SPECIAL, len(scored.tokens))):
        if "".join(scored.tokens[special:]) == context + target:
            break
    else:
        # A first token without a value is a special one, and the list form may not name it.
        if scored.logprobs[0] is not None or "".join(scored.tokens[1:]) != context + target:
            return None
        special = 1
    if not context and special < len(scored.tokens) and not scored.tokens[special]:
        special += scored.logprobs[special] is None  # a nameless first token is a special one
    at, start = 0, special
    while at < len(context):
        at += len(scored.tokens[start])
        start += 1
    return total(scored.logprobs[start:]) if at == len(context) else None


def difference(joint: ScoredPrompt, alone: ScoredPrompt) -> tuple[float, int, bool]:
    """(sum in nats, tokens, clean) of a target from its prompt and from the context alone.

    Where the context's tokens are not a prefix of the prompt's, they merge at the boundary: then
    log P(xy) - log P(x) over all tokens, and not clean.
    """
    length = len(alone.tokens)
    if joint.tokens[:length] == alone.tokens:
        return *total(joint.logprobs[length:]), True
    whole, before = total(joint.logprobs[1:]), total(alone.logprobs[1:])
    return whole[0] - before[0], whole[1] - before[1], False


def total(values: Sequence[float | None]) -> tuple[float, int]:
    """(sum, how many); NaN where one is missing."""
    return math.fsum(math.nan if v is None else v for v in values), len(values)


async def probe(caller: Caller, model: str, mode: Mode, draws: int = DRAWS) -> None:
    """Ask for a few tokens with their log-probabilities, then for those of prompt and tokens.

    The same tokens must get the same values both ways: a server that ignores the field, or reads
    the distribution one position off, ends in a CapabilityError.
    """
    generate = {"model": model, "prompt": PROBE, "max_tokens": GENERATED, "temperature": 1.0}
    first = await _ask(caller, generate | {"logprobs": 1}, "logprobs")
    try:
        choice = first["choices"][0]
        wrote = _scored(choice["logprobs"]["tokens"], choice["logprobs"]["token_logprobs"])
        second = await _ask(caller, scoring_body(model, mode, PROBE + choice["text"]), mode)
        scored = read_prompt(second, mode)
    except (KeyError, TypeError, IndexError):
        raise _refusal(caller, "it answers without the field that logprobs asks for") from None
    except UnusableError as cause:
        raise _refusal(caller, str(cause)) from None
    drawn, values = list(wrote.tokens), wrote.logprobs
    echoed = list(scored.tokens)
    n = max((n for n in range(len(drawn) + 1) if _follows(echoed, drawn[:n], PROBE)), default=0)
    if n == 0 and draws > 1:
        return await probe(caller, model, mode, draws - 1)
    if n == 0:
        raise _refusal(caller, "the tokens it drew are not those it reads back")
    start = len(echoed) - len(_tail(echoed, PROBE))
    pairs = zip(scored.logprobs[start : start + n], values[:n], strict=True)
    gap = sum(math.inf if a is None or b is None else abs(a - b) for a, b in pairs) / n
    if not gap <= TOLERANCE:
        raise _refusal(
            caller,
            f"a text it wrote itself gets other log-probabilities when read back ({gap:.2f} nats "
            "a token apart), so they belong to other positions",
        )


def _tail(tokens: Sequence[str], prompt: str) -> list[str]:
    """The tokens after the prompt's, if one starts exactly there."""
    starts = [(special, prompt) for special in range(SPECIAL)]
    if tokens and not tokens[0]:  # nameless, and the prompt's own first where none precedes it
        starts += [(1, prompt[length:]) for length in range(1, len(prompt))]
    for start, expected in starts:
        rest = list(tokens[start:])
        text = ""
        while rest and len(text) < len(expected):
            text += rest.pop(0)
        if text == expected:
            return rest
    return []


def _follows(tokens: Sequence[str], drawn: Sequence[str], prompt: str) -> bool:
    if any(BROKEN in token or not token for token in drawn):
        return False
    return bool(drawn) and _tail(tokens, prompt)[: len(drawn)] == list(drawn)


async def _ask(caller: Caller, body: dict[str, Any], what: str) -> dict[str, Any]:
    tokens = (estimate([body["prompt"]]), int(body["max_tokens"]))
    answer = await caller.call(Call("completions", body, ("probe", what), tokens))
    if answer.body is None and not answer.settled:
        raise EndpointError(f"{caller.where} could not be tried ({answer.reason}).")
    if answer.body is None:
        raise _refusal(caller, answer.reason or "no answer")
    return answer.body


def _refusal(caller: Caller, reason: str) -> CapabilityError:
    return CapabilityError(
        f"{caller.where} gives no usable log-probabilities of a prompt: {reason}. Use "
        "evaluation_lm.logprobs=none and a mechanism that chats, or another server (vLLM has them)."
    )
