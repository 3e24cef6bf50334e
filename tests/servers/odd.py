"""Faults in what an answer says: usage, shape, tokens, names; refusals and replies of no use."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from tests.servers.answers import Body, usage
from tests.servers.exchange import Exchange
from tests.servers.wire import CONTROL

USAGE: dict[str, Any] = {"word": "many", "huge": 10**400, "negative": -80_000_000}
DEEP = 200_000
UNBOUNDED = 500  # output tokens that a request without a bound is expected to take


def changed(x: Exchange, **fields: Any) -> bytes:
    """The rule's answer with other fields; nothing is charged here but what the rule did."""
    return json.dumps(x.whole | fields).encode()


def odd_usage(x: Exchange, value: str) -> bytes:
    if value == "absent":
        del x.whole["usage"]
        return changed(x)
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return changed(x, usage=dict.fromkeys(names, USAGE[value or "word"]))


def long(x: Exchange, value: str) -> bytes:
    bound = x.body.get("max_tokens") or x.body.get("max_completion_tokens") or UNBOUNDED
    x.tokens = (x.tokens[0], int(value or 20) * bound)
    choice = x.whole["choices"][0]
    more = " indeed" * (x.tokens[1] - 8)
    if "message" in choice:
        choice["message"]["content"] = more.strip() + " " + choice["message"]["content"]
    else:
        choice["text"] += more
    return changed(x, usage=usage(*x.tokens))


def deep(x: Exchange, value: str) -> bytes:
    levels = int(value or DEEP)
    body = changed(x, system_fingerprint="DEEP")
    return body.replace(b'"DEEP"', b"[" * levels + b"]" * levels)


def surrogate(x: Exchange, value: str) -> bytes:
    if value == "content":
        x.whole["choices"][0]["message"]["content"] += " \ud800"
    else:
        x.whole["system_fingerprint"] = "fp \ud800"
    return changed(x)


def model(x: Exchange, value: str) -> bytes:
    return changed(x, model=value or "another-model")


def key_echo(x: Exchange, value: str) -> bytes:
    secret = x.auth.removeprefix("Bearer ")
    if value == "model":
        return changed(x, model=f"model of {secret}")
    if value == "refusal":
        return message(x, content=None, refusal=f"{secret} may not")
    x.whole["choices"][0]["message"]["content"] += f" {secret}"
    return changed(x)


def control_reply(x: Exchange, value: str) -> bytes:
    x.whole["system_fingerprint"] = CONTROL
    return message(x, content=None, refusal=f"no {CONTROL}")


def message(x: Exchange, finish: str | None = None, **fields: Any) -> bytes:
    choice = x.whole["choices"][0]
    choice.setdefault("message", {}).update(fields)
    choice["finish_reason"] = finish or choice["finish_reason"]
    return changed(x)


def tokens(x: Exchange, value: str) -> bytes:
    """Other tokens than the prompt's, as many as there are."""
    for found in _scored(x.whole):
        found["tokens"] = [("zzz", " yyy", " qqq")[k % 3] for k in range(len(found["tokens"]))]
    for row in x.whole["choices"][0].get("prompt_logprobs") or []:
        for entry in (row or {}).values():
            entry["decoded_token"] = " zzz"
    return changed(x)


def logprobs(x: Exchange, value: str) -> bytes:
    """One value of the prompt's is another: a number, ``nan``, a word."""
    said: Any = value or "-1e308"
    with suppress(ValueError):
        said = float(said)
    for found in _scored(x.whole):
        found["token_logprobs"][-2:] = [said] * len(found["token_logprobs"][-2:])
    for row in (x.whole["choices"][0].get("prompt_logprobs") or [])[-1:]:
        for entry in (row or {}).values():
            entry["logprob"] = said
    return changed(x)


def _scored(answer: Body) -> list[Body]:
    places = [*answer.get("prompt", []), *answer["choices"]]
    return [p["logprobs"] for p in places if "tokens" in (p.get("logprobs") or {})]
