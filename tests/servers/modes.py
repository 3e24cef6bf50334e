"""All faults by name, and what each does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.servers import odd, wire
from tests.servers.exchange import Exchange
from tests.servers.schedule import Fault

Body = Callable[[Exchange, str], bytes]


def message(**fields: object) -> Body:
    return lambda x, value: odd.message(x, **fields)  # type: ignore[arg-type]


def top(**fields: object) -> Body:
    return lambda x, value: odd.changed(x, **fields)


WIRE: dict[str, Callable[[Exchange, str], Awaitable[bool]]] = {
    "quota": wire.quota,  # 429 that says the account is empty
    "html": wire.html,
    "garbage": wire.garbage,  # bytes that are not HTTP
    "surrogate_header": wire.surrogate_header,
    "retry_after": wire.retry_after,  # 429 with [=86400] (inf, nan, -1, date, past, a word)
    "redirect": wire.redirect,  # [=307] to another port, which notes what leaks
    "big": wire.big,  # a body of [=50] MB
    "bomb": wire.bomb,  # [=1000] MB of blanks in gzip
    "control": wire.control,  # control characters in an error [=400]
    "hang": wire.hang,  # silence for [=60] s, then it hangs up
    "drop": wire.drop,  # hangs up at once
    "cut": wire.cut,  # half a reply, paid in full
    "drip": wire.drip,  # a byte each [=.2] s
}
"""Below JSON; a number is any HTTP status (429 with Retry-After: 0.5)."""
BODY: dict[str, Body] = {
    "refusal": message(content=None, refusal="I would rather not."),
    "filter": message(finish="content_filter", content=None),
    "length": message(finish="length"),
    "empty": top(choices=[]),
    "blank": message(content=" "),
    "unreadable": message(content="Hard to say."),
    "malformed": lambda x, value: b'{"choices": [{"message": ',
    "deep": odd.deep,  # JSON nested [=200000] deep
    "surrogate": odd.surrogate,  # a lone surrogate in [=system_fingerprint]
    "choice_null": top(choices=[None]),
    "usage": odd.odd_usage,  # [=word], huge, negative, or absent
    "long": odd.long,  # replies [=20] times as long as asked, paid in full
    "tokens": odd.tokens,  # tokens that do not spell the prompt
    "logprob": odd.logprobs,  # log-probabilities of [=-1e308] (nan, 1, a word)
    "key": odd.key_echo,  # repeats the key in its [=reply|model|refusal]
    "control_reply": odd.control_reply,
    "model": odd.model,  # [=another-model] answers
}
"""What the answer says; the work is paid for."""


def check(fault: Fault) -> None:
    """ValueError where there is no such fault."""
    if not fault.mode.isdigit() and fault.mode not in WIRE | BODY:
        raise ValueError(f"no fault is called {fault.mode!r}: {', '.join(WIRE | BODY)}")


async def misbehave(x: Exchange, fault: Fault) -> bool:
    """Answer as the fault says; whether the connection goes on."""
    x.log.note("fault", x.key, mode=fault.mode)
    if fault.mode.isdigit():
        return await wire.status(x, fault.mode)
    if fault.mode in WIRE:
        return await WIRE[fault.mode](x, fault.value)
    body = BODY[fault.mode](x, fault.value)
    x.charge()
    return await x.say(200, body)
