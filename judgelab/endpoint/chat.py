"""A chat question as an endpoint wants it, and what its answer says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from judgelab.core.errors import CapabilityError
from judgelab.core.lm import ChatRequest, Reply
from judgelab.endpoint.sending import Answer, Call, estimate

TokenLimit = Literal["max_tokens", "max_completion_tokens"]
UNBOUNDED = 500  # output tokens expected of a request without a limit, for pacing and estimates
SAID = 200  # characters of a refusal that are kept


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
    """The reply, or the reason why there is none; CapabilityError where logprobs are ignored."""
    if answer.body is None:
        return Reply(None, answer.reason, settled=answer.settled)
    usage = answer.body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    tokens = (counts.get("prompt_tokens"), counts.get("completion_tokens"))
    try:
        choices = answer.body["choices"]
        if not choices:
            return Reply(None, "empty answer (no choice)", *tokens, settled=True)
        choice = choices[0]
        found = _alternatives(choice) if request.top_logprobs else ()
        reason = _unusable(choice, request)
        if reason is not None:
            return Reply(None, reason, *tokens, settled=True)
        text = choice["message"]["content"]
        if not isinstance(text, str):
            raise TypeError
    except (KeyError, TypeError, AttributeError, IndexError):
        return Reply(None, "malformed answer (not a chat completion)", *tokens, settled=True)
    return Reply(text, None, *tokens, top_logprobs=found)


def _unusable(choice: Mapping[str, Any], request: ChatRequest) -> str | None:
    message, finish = choice["message"], choice.get("finish_reason")
    if message.get("refusal"):
        return f"refused: {' '.join(str(message['refusal']).split())[:SAID]}"
    if finish == "content_filter":
        return "content filter"
    if finish == "length":
        return f"cut at {request.max_tokens or 'the longest'} tokens"
    if not (message.get("content") or "").strip():
        return "empty answer"
    return None


def _alternatives(choice: Mapping[str, Any]) -> tuple[tuple[tuple[str, float], ...], ...]:
    if not choice["message"].get("content"):
        return ()  # refused: there are no tokens
    try:
        return tuple(
            tuple((str(a["token"]), float(a["logprob"])) for a in token["top_logprobs"])
            for token in choice["logprobs"]["content"]
        )
    except (KeyError, TypeError) as cause:
        raise CapabilityError(
            "The server ignores logprobs in chat: its answer lacks the field. Use a server that "
            "reports them (OpenAI, vLLM)."
        ) from cause
