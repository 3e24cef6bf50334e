"""All faults by name: what each does, and which defect it was written for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.servers import odd, wire
from tests.servers.exchange import Exchange
from tests.servers.schedule import Fault


@dataclass(frozen=True)
class Mode:
    """Attributes: ``entry`` of the list of defects; ``wire`` or ``body`` is what it does."""

    entry: str
    words: str
    wire: Callable[[Exchange, str], Awaitable[bool]] | None = None
    body: Callable[[Exchange, str], bytes] | None = None


def message(**fields: object) -> Callable[[Exchange, str], bytes]:
    return lambda x, value: odd.message(x, **fields)  # type: ignore[arg-type]


MODES = {
    "NNN": Mode("E1", "any HTTP status: 500, 400, 429 (with Retry-After: 0.5), ...", wire.status),
    "quota": Mode("E1", "429 that says the account is empty", wire.quota),
    "refusal": Mode("E2", "refused", body=message(content=None, refusal="I would rather not.")),
    "filter": Mode("E2", "content filter", body=message(finish="content_filter", content=None)),
    "length": Mode("E2", "cut at its bound", body=message(finish="length")),
    "empty": Mode(
        "E2", "no choice", body=lambda x, v: odd.changed(x, lambda a: a.update(choices=[]))
    ),
    "blank": Mode("E2", "an empty text", body=message(content=" ")),
    "unreadable": Mode("E2", "a text without a label", body=message(content="Hard to say.")),
    "malformed": Mode("E3", "half a JSON text", body=odd.raw(b'{"choices": [{"message": ')),
    "not_object": Mode("E3", "JSON, but a list", body=odd.raw(b"[]")),
    "no_body": Mode("E3", "200 and nothing", body=odd.raw(b"")),
    "not_utf8": Mode("E3", "bytes that are no text", body=odd.raw(b'{"id": "\xff\xfe"}')),
    "html": Mode("E3", "200 and a page of HTML", wire.html),
    "garbage": Mode("E3", "bytes that are not HTTP", wire.garbage),
    "deep": Mode("E3", "JSON nested [=200000] deep", body=odd.deep),
    "surrogate": Mode("E3", "a lone surrogate in [=system_fingerprint]", body=odd.surrogate),
    "surrogate_header": Mode("E3", "headers that are no text", wire.surrogate_header),
    "choices_word": Mode(
        "E3", "choices is a word", body=lambda x, v: odd.changed(x, lambda a: a.update(choices="x"))
    ),
    "choice_null": Mode(
        "E3",
        "the choice is null",
        body=lambda x, v: odd.changed(x, lambda a: a.update(choices=[None])),
    ),
    "content_list": Mode("E3", "the text is a list", body=message(content=[{"text": "[[A]]"}])),
    "usage": Mode(
        "E3, E4", f"usage is [=word|{'|'.join(list(odd.USAGE)[1:])}|absent]", body=odd.odd_usage
    ),
    "long": Mode("E4", "replies [=20] times as long as asked, paid in full", body=odd.long),
    "retry_after": Mode(
        "E5", "429 with Retry-After [=86400] (inf, nan, -1, date, past, a word)", wire.retry_after
    ),
    "tokens": Mode("E8", "tokens that do not spell the prompt", body=odd.tokens),
    "logprob": Mode("E8", "log-probabilities of [=-1e308] (nan, 1, a word)", body=odd.logprobs),
    "redirect": Mode("E9", "[=307] to another port, which notes what leaks", wire.redirect),
    "big": Mode("E9", "a body of [=50] MB", wire.big),
    "bomb": Mode("E9", "[=1000] MB of blanks in gzip", wire.bomb),
    "key": Mode("E9", "repeats the key in its [=reply|model|refusal] (400: in the error)",
                body=odd.key_echo),
    "control": Mode("E9", "control characters in an error [=400]", wire.control),
    "control_reply": Mode("E9", "control characters in a refusal", body=odd.control_reply),
    "hang": Mode("E12", "silence for [=60] s, then it hangs up", wire.hang),
    "slow": Mode("E12", "a whole answer after [=3] s", wire.slow),
    "drop": Mode("E12", "hangs up at once", wire.drop),
    "cut": Mode("E12", "half a reply, paid in full", wire.cut),
    "drip": Mode("E12", "a byte each [=.2] s", wire.drip),
    "model": Mode("issue", "[=another-model] answers", body=odd.model),
}  # fmt: skip


def mode_of(fault: Fault) -> Mode:
    """The mode of a fault; ValueError where there is none."""
    if fault.mode.isdigit():
        known = MODES["NNN"]
        return Mode(known.entry, known.words, lambda x, value: wire.status(x, fault.mode))
    if fault.mode not in MODES:
        raise ValueError(f"no fault is called {fault.mode!r}: {', '.join(MODES)}")
    return MODES[fault.mode]


async def misbehave(x: Exchange, fault: Fault) -> bool:
    """Answer as the fault says; whether the connection goes on."""
    x.log.note("fault", x.key, mode=fault.mode)
    mode = mode_of(fault)
    if mode.wire is not None:
        return await mode.wire(x, fault.value)
    assert mode.body is not None
    body = mode.body(x, fault.value)
    x.charge()
    return await x.say(200, body)
