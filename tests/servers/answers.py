"""What a scripted server answers where nothing is wrong: a rule on the request's body alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.servers.judging import verdict

LABELS = {  # what each of the shipped prompts offers
    "tvd_mi": ("[[Significant Gain]]", "[[Little Gain]]", "[[No Gain]]"),
    "judge": ("[[A]]", "[[B]]", "[[C]]"),
    "pairwise": ("one", "two"),
    "grades": ("1", "2", "3", "4", "5"),
}
WORDS = ["fog", "harbour", "lamp", "tide", "rope", "gull", "keeper", "stone", "light", "signal"]
Body = dict[str, Any]


def number(*parts: object) -> int:
    """A number that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big")


def tokenise(text: str, settings: Mapping[str, Any]) -> list[str]:
    """Words with the space before them; ``merge`` glues a newline to the next word."""
    pattern = r"\n?[^\S\n]*\S+|\s" if settings.get("merge") else r"[^\S\n]*\S+|\s"
    return re.findall(pattern, text)


def logprob(before: list[str], token: str) -> float:
    """The rule: log P of a token given the two before it, in nats."""
    return -0.1 - number(*before[-2:], token) % 700 / 100


def answer(body: Body, settings: Mapping[str, Any]) -> Body:
    """The answer; LookupError(HTTP status) for what the server does not offer."""
    return chat(body, settings) if "messages" in body else complete(body, settings)


def chat(body: Body, settings: Mapping[str, Any]) -> Body:
    prompt = " ".join(m["content"] for m in body["messages"])
    kind = "tvd_mi" if "significant gain" in prompt.lower() else "judge"
    kind = "pairwise" if "`one` or `two`" in prompt else kind
    kind = "grades" if "whole number from 1 to 5" in prompt else kind
    options = LABELS[kind]
    text = f"I choose {options[number(prompt) % len(options)]}"
    text = verdict(body["model"], prompt) or text
    if "response_format" in body and settings.get("no_format"):
        raise LookupError(400, "response_format is not supported by this model")
    if settings.get("json"):  # each fourth as it must not be
        allowed = json.loads(f"[{re.findall(r'exactly one of: (.*)[.]', prompt)[-1]}]")
        said = verdict(body["model"], prompt) or allowed[number(prompt) % len(allowed)]
        text = json.dumps({"reason": "It says more.", "verdict": said})
        odd = ('{"verdict": "one"}', f"{text} So it is.", f"[{text}]", text.replace("verdict", "v"))
        text = odd[number(prompt) % 4] if number(prompt, "odd") % 4 == 0 else text
    message: Body = {"role": "assistant", "content": text}
    choice: Body = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs") and not settings.get("ignore"):
        top = [{"token": "I", "logprob": -0.1, "bytes": None}] * body["top_logprobs"]
        content = [{"token": "I", "logprob": -0.1, "bytes": None, "top_logprobs": top}]
        choice["logprobs"] = {"content": content}
    head = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**head, "choices": [choice], "usage": usage(len(prompt) // 4, 8)}


def complete(body: Body, settings: Mapping[str, Any]) -> Body:
    if settings.get("no_completions"):
        raise LookupError(422)
    if body["prompt"] == settings.get("refuses"):
        raise LookupError(503)
    tokens = ["<s>", *tokenise(body["prompt"], settings)]
    read = len(tokens)
    for k in range(body["max_tokens"]):
        tokens.append(" " + WORDS[number(tokens[-2:], k) % len(WORDS)])
    values = [None, *(logprob(tokens[:i], tokens[i]) for i in range(1, len(tokens)))]
    shift = 1 if settings.get("off_by_one") else 0
    prompt_values = [None, *(values[1 + shift : read + shift])][:read]
    if settings.get("fragments"):
        tokens = [re.sub(r"[^\x00-\x7f]", "\ufffd", t) for t in tokens]
    choice: Body = {"index": 0, "text": "".join(tokens[read:]), "logprobs": None}
    choice["finish_reason"] = "length"
    whole: Body = {"id": "t", "object": "text_completion", "created": 0, "model": body["model"]}
    whole["usage"] = usage(read, body["max_tokens"])
    whole["choices"] = [choice]
    ignore = settings.get("ignore")
    if "logprobs" in body and ignore != "all":
        echo = body.get("echo") and not ignore
        start = 0 if echo and not settings.get("beside") else read
        shown = prompt_values + values[read:]
        choice["logprobs"] = {"tokens": tokens[start:], "token_logprobs": shown[start:]}
        if echo and settings.get("beside"):
            part = {"tokens": tokens[:read], "token_logprobs": prompt_values}
            whole["prompt"] = [{"text": body["prompt"], "logprobs": part}]
    if "prompt_logprobs" in body and not ignore:
        rows = zip(tokens[:read], prompt_values, strict=True)
        choice["prompt_logprobs"] = [
            None if v is None else {"7": {"logprob": v, "rank": 1, "decoded_token": t}}
            for t, v in rows
        ]
    return whole


def usage(read: int, written: int) -> dict[str, int]:
    total = read + written
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": total}


def error(message: str, code: str | None = None) -> bytes:
    return json.dumps({"error": {"message": message, "type": "scripted", "code": code}}).encode()
