"""An OpenAI-compatible server process that answers by a rule, and misbehaves as told.

Started as ``python scripted.py SETTINGS_JSON LOG``; prints its port. Every request is noted in LOG
(JSONL) when it arrives and again when a whole answer has left. Answers depend on the request's
body alone, faults on the body and on how often it was seen: transient ones strike first attempts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import time
from collections import Counter, deque
from typing import Any

LABELS = {  # what each of the shipped prompts offers
    "tvd_mi": ("[[Significant Gain]]", "[[Little Gain]]", "[[No Gain]]"),
    "judge": ("[[A]]", "[[B]]", "[[C]]"),
    "pairwise": ("one", "two"),
    "grades": ("1", "2", "3", "4", "5"),
}
WORDS = ["fog", "harbour", "lamp", "tide", "rope", "gull", "keeper", "stone", "light", "signal"]
TRANSIENT = ("429", "500", "hang", "cut", "drop")
LASTING = ("malformed", "refusal", "filter", "empty", "length")


def number(*parts: object) -> int:
    """A number that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big")


def tokenise(text: str, settings: dict[str, Any]) -> list[str]:
    """Words with the space before them; ``merge`` glues a newline to the next word."""
    pattern = r"\n?[^\S\n]*\S+|\s" if settings.get("merge") else r"[^\S\n]*\S+|\s"
    return re.findall(pattern, text)


def logprob(before: list[str], token: str) -> float:
    """The rule: log P of a token given the two before it, in nats."""
    return -0.1 - number(*before[-2:], token) % 700 / 100


class Server:
    def __init__(self, settings: dict[str, Any], log: str) -> None:
        self.settings, self.seen = settings, Counter[str]()
        self.log = open(log, "ab", buffering=0)  # noqa: PTH123, SIM115 (lives as long as we do)
        self.recent: deque[float] = deque()

    def note(self, event: str, key: str, **facts: Any) -> None:
        entry = {"event": event, "key": key, "at": time.monotonic(), **facts}
        self.log.write((json.dumps(entry) + "\n").encode())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        raw = await reader.readexactly(int(length[1]) if length else 0)
        path = head.split(" ", 2)[1]
        key = hashlib.sha256(path.encode() + raw).hexdigest()[:16]
        self.seen[key] += 1
        self.note("seen", key, path=path)
        sent = re.search(r"authorization: (.*)\r", head, re.IGNORECASE)
        if self.settings.get("key") and (not sent or sent[1] != f"Bearer {self.settings['key']}"):
            return await self.say(writer, key, 401, error("wrong key"))
        await asyncio.sleep(self.settings.get("delay", 0))
        if self.limited():
            return await self.say(writer, key, 429, error("slow down"), "Retry-After: 0.2\r\n")
        body = json.loads(raw)
        fault = self.fault(key)
        if fault:
            done = await self.misbehave(fault, key, writer, sent[1] if sent else "")
            if done is not None:
                return done
        try:
            answer = self.chat(body, fault) if "messages" in body else self.complete(body)
        except LookupError as cause:
            return await self.say(writer, key, int(cause.args[0]), error("not supported here"))
        return await self.say(writer, key, 200, json.dumps(answer).encode())

    def limited(self) -> bool:
        limit, now = self.settings.get("per_second"), time.monotonic()
        while self.recent and now - self.recent[0] > 1:
            self.recent.popleft()
        if limit and len(self.recent) >= limit:
            return True
        self.recent.append(now)
        return False

    def fault(self, key: str) -> str | None:
        kinds = self.settings.get("faults", [])
        if not kinds or number("strike", key) % 1000 >= 1000 * self.settings.get("share", 0.2):
            return None
        kind = str(kinds[number("kind", key) % len(kinds)])
        return None if kind in TRANSIENT and self.seen[key] > 1 else kind

    async def misbehave(
        self, kind: str, key: str, writer: asyncio.StreamWriter, auth: str
    ) -> bool | None:
        if kind == "429":
            return await self.say(writer, key, 429, error("slow down"), "Retry-After: 0.5\r\n")
        if kind in ("500", "400"):
            return await self.say(writer, key, int(kind), error(f"trouble with {auth}"))
        if kind == "hang":
            await asyncio.sleep(60)
            return False
        if kind == "drop":
            return False
        if kind == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(b'Content-Length: 900\r\n\r\n{"id": "half')
            await writer.drain()
            return False
        if kind == "malformed":
            return await self.say(writer, key, 200, b'{"choices": [{"message": ')
        return None  # shows in the answer

    async def say(
        self, writer: asyncio.StreamWriter, key: str, status: int, body: bytes, more: str = ""
    ) -> bool:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        self.note("answered", key, status=status)
        return True

    def chat(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        prompt = " ".join(m["content"] for m in body["messages"])
        kind = "tvd_mi" if "significant gain" in prompt.lower() else "judge"
        kind = "pairwise" if "`one` or `two`" in prompt else kind
        kind = "grades" if "whole number from 1 to 5" in prompt else kind
        options = LABELS[kind]
        text = f"I choose {options[number(prompt) % len(options)]}"
        message: dict[str, Any] = {"role": "assistant", "content": text}
        finish = "stop"
        if fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
        if fault == "filter":
            finish, message["content"] = "content_filter", None
        if fault == "length":
            finish = "length"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if body.get("logprobs") and not self.settings.get("ignore"):
            top = [{"token": "I", "logprob": -0.1, "bytes": None}] * body["top_logprobs"]
            content = [{"token": "I", "logprob": -0.1, "bytes": None, "top_logprobs": top}]
            choice["logprobs"] = {"content": content}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [] if fault == "empty" else [choice],
            "usage": usage(len(prompt) // 4, 8),
        }

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.settings.get("no_completions"):
            raise LookupError(422)
        if body["prompt"] == self.settings.get("refuses"):
            raise LookupError(400)
        tokens = ["<s>", *tokenise(body["prompt"], self.settings)]
        read = len(tokens)
        for k in range(body["max_tokens"]):
            tokens.append(" " + WORDS[number(tokens[-2:], k) % len(WORDS)])
        values = [None, *(logprob(tokens[:i], tokens[i]) for i in range(1, len(tokens)))]
        shift = 1 if self.settings.get("off_by_one") else 0
        prompt_values = [None, *(values[1 + shift : read + shift])][:read]
        if self.settings.get("fragments"):
            tokens = ["\ufffd" if not t.isascii() else t for t in tokens]
        choice: dict[str, Any] = {"index": 0, "text": "".join(tokens[read:]), "logprobs": None}
        choice["finish_reason"] = "length"
        answer = {"id": "t", "object": "text_completion", "created": 0, "model": body["model"]}
        answer["usage"] = usage(read, body["max_tokens"])
        answer["choices"] = [choice]
        ignore = self.settings.get("ignore")
        if "logprobs" in body and ignore != "all":
            echo = body.get("echo") and not ignore
            start = 0 if echo and not self.settings.get("beside") else read
            shown = prompt_values + values[read:]
            choice["logprobs"] = {"tokens": tokens[start:], "token_logprobs": shown[start:]}
            if echo and self.settings.get("beside"):
                part = {"tokens": tokens[:read], "token_logprobs": prompt_values}
                answer["prompt"] = [{"text": body["prompt"], "logprobs": part}]
        if "prompt_logprobs" in body and not ignore:
            rows = zip(tokens[:read], prompt_values, strict=True)
            choice["prompt_logprobs"] = [
                None if v is None else {"7": {"logprob": v, "rank": 1, "decoded_token": t}}
                for t, v in rows
            ]
        return answer


def usage(read: int, written: int) -> dict[str, int]:
    total = read + written
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": total}


def error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "scripted"}}).encode()


async def main() -> None:
    server = Server(json.loads(sys.argv[1]), sys.argv[2])
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
