"""A chat question as an endpoint wants it, and what its answer says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from judgelab.calls.sending import (
    UNBOUNDED,
    Answer,
    Call,
    UnusableError,
    estimate,
    finite,
    usage,
)
from judgelab.core.lm import WITHOUT_PROBABILITIES, ChatRequest, Reply

TokenLimit = Literal["max_tokens", "max_completion_tokens"]
SAID = 200  # characters of a refusal that are kept
LOWEST = -1e300  # nats of an alternative, which may be all but impossible


def chat_call(
    request: ChatRequest, model: str, extra: Mapping[str, Any], limit: TokenLimit
) -> Call:
    """The request for /chat/completions."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    body: dict[str, Any] = {"model": model, "messages": messages}
    body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[limit] = request.max_tokens
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if extra:
        body["extra_body"] = dict(extra)
    tokens = estimate([m.content for m in request.messages])
    return Call("chat", body, request.key, (tokens, request.max_tokens or UNBOUNDED))


def reply_of(answer: Answer, request: ChatRequest) -> Reply:
    """The reply, or the reason why there is none."""
    if answer.body is None:
        return Reply(None, answer.reason, settled=answer.settled)
    name = answer.body.get("model")
    return replace(_reply(answer.body, request), model=name if isinstance(name, str) else None)


def _reply(body: Mapping[str, Any], request: ChatRequest) -> Reply:
    read, written = usage(body) or (None, None)
    choices = body.get("choices")
    if choices == []:
        return Reply(None, "empty answer (no choice)", read, written, settled=True)
    try:
        choice = choices[0]  # type: ignore[index]
        reason, text = _unusable(choice, request), choice["message"].get("content")
        if reason is None and not isinstance(text, str):
            raise TypeError
    except (KeyError, TypeError, AttributeError, IndexError):
        reason = "malformed answer (not a chat completion)"
    if reason is not None:
        return Reply(None, reason, read, written, settled=True)
    try:
        found = _alternatives(choice) if request.top_logprobs else ()
    except (KeyError, TypeError, AttributeError):
        return Reply(None, WITHOUT_PROBABILITIES, read, written, settled=True)
    except UnusableError as cause:
        return Reply(None, f"malformed answer ({cause})", read, written, settled=True)
    return Reply(text, None, read, written, top_logprobs=found)


def _unusable(choice: Mapping[str, Any], request: ChatRequest) -> str | None:
    message, finish = choice["message"], choice.get("finish_reason")
    if message.get("refusal"):
        return f"refused: {' '.join(str(message['refusal']).split())[:SAID]}"
    if finish == "content_filter":
        return "content filter"
    if finish == "length":
        return f"cut at {request.max_tokens or 'the longest'} tokens"
    if not message.get("content") or not message["content"].strip():
        return "empty answer"
    return None


def _alternatives(choice: Mapping[str, Any]) -> tuple[tuple[tuple[str, float], ...], ...]:
    return tuple(
        tuple((str(a["token"]), finite(a["logprob"], LOWEST)) for a in token["top_logprobs"])
        for token in choice["logprobs"]["content"]
    )
