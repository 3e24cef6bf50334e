"""Faults in what an answer says: usage, shape, tokens, names; refusals and replies of no use."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.servers.answers import Body, usage
from tests.servers.exchange import Exchange
from tests.servers.wire import CONTROL

USAGE: dict[str, Any] = {
    "word": "many",
    "infinity": float("inf"),
    "nan": float("nan"),
    "huge": 10**400,
    "large": 10**12,
    "negative": -80_000_000,
    "fraction": 8.5,
    "truth": True,
    "null": None,
    "list": [8],
}
DEEP = 200_000
UNBOUNDED = 500  # output tokens that a request without a bound is expected to take


def changed(x: Exchange, change: Callable[[Body], Any]) -> bytes:
    """The rule's answer with a change; nothing is charged here but what the rule did."""
    change(x.whole)
    return json.dumps(x.whole).encode()


def odd_usage(x: Exchange, value: str) -> bytes:
    if value == "absent":
        return changed(x, lambda a: a.pop("usage"))
    said = USAGE[value or "word"]
    named = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), said)
    return changed(x, lambda a: a.update(usage=named))


def long(x: Exchange, value: str) -> bytes:
    bound = x.body.get("max_tokens") or x.body.get("max_completion_tokens") or UNBOUNDED
    x.tokens = (x.tokens[0], int(value or 20) * bound)
    choice = x.whole["choices"][0]
    more = " indeed" * (x.tokens[1] - 8)
    if "message" in choice:
        choice["message"]["content"] = more.strip() + " " + choice["message"]["content"]
    else:
        choice["text"] += more
    return changed(x, lambda a: a.update(usage=usage(*x.tokens)))


def deep(x: Exchange, value: str) -> bytes:
    levels = int(value or DEEP)
    body = changed(x, lambda a: a.update(system_fingerprint="DEEP"))
    return body.replace(b'"DEEP"', b"[" * levels + b"]" * levels)


def surrogate(x: Exchange, value: str) -> bytes:
    def change(answer: Body) -> None:
        place = value or "system_fingerprint"
        if place == "content":
            answer["choices"][0]["message"]["content"] += " \ud800"
        else:
            answer[place] = "fp \ud800"

    return changed(x, change)


def raw(text: bytes) -> Callable[[Exchange, str], bytes]:
    return lambda x, value: text


def model(x: Exchange, value: str) -> bytes:
    return changed(x, lambda a: a.update(model=value or "another-model"))


def key_echo(x: Exchange, value: str) -> bytes:
    secret = x.auth.removeprefix("Bearer ")

    def change(answer: Body) -> None:
        if value == "model":
            answer["model"] = f"model of {secret}"
        elif value == "refusal":
            answer["choices"][0]["message"] |= {"content": None, "refusal": f"{secret} may not"}
        else:
            answer["choices"][0]["message"]["content"] += f" {secret}"

    return changed(x, change)


def control_reply(x: Exchange, value: str) -> bytes:
    def change(answer: Body) -> None:
        answer["system_fingerprint"] = CONTROL
        refused = {"content": None, "refusal": f"no {CONTROL}"}
        answer["choices"][0]["message"] |= refused

    return changed(x, change)


def message(x: Exchange, finish: str | None = None, **fields: Any) -> bytes:
    def change(answer: Body) -> None:
        choice = answer["choices"][0]
        choice.setdefault("message", {}).update(fields)
        choice["finish_reason"] = finish or choice["finish_reason"]

    return changed(x, change)


def tokens(x: Exchange, value: str) -> bytes:
    """Other tokens than the prompt's, as many as there are."""

    def change(answer: Body) -> None:
        for found in _scored(answer):
            found["tokens"] = [("zzz", " yyy", " qqq")[k % 3] for k in range(len(found["tokens"]))]
        for row in answer["choices"][0].get("prompt_logprobs") or []:
            for entry in (row or {}).values():
                entry["decoded_token"] = " zzz"

    return changed(x, change)


def logprobs(x: Exchange, value: str) -> bytes:
    """One value of the prompt's is another: a number, ``nan``, a word."""
    said: Any = value or "-1e308"
    with suppress(ValueError):
        said = float(said)

    def change(answer: Body) -> None:
        for found in _scored(answer):
            found["token_logprobs"][-2:] = [said] * len(found["token_logprobs"][-2:])
        for row in (answer["choices"][0].get("prompt_logprobs") or [])[-1:]:
            for entry in (row or {}).values():
                entry["logprob"] = said

    return changed(x, change)


def _scored(answer: Body) -> list[Body]:
    places = [*answer.get("prompt", []), *answer["choices"]]
    return [p["logprobs"] for p in places if "tokens" in (p.get("logprobs") or {})]
