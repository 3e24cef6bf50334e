"""Real models behind /v1/completions, with the log-probabilities of their prompts.

A request names the model by its folder. Prompts are read as vLLM does: tokens as they are, and
text with the first token that the tokenizer adds. What stands between host and /v1 in the address
are manners: ``text`` refuses tokens; ``keeps60`` cuts prompts to their last 60.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import torch
import transformers


class Model:
    def __init__(self, folder: str) -> None:
        library = transformers.AutoModelForCausalLM
        self.lm = library.from_pretrained(folder, dtype=torch.float32).eval()
        self.words = transformers.AutoTokenizer.from_pretrained(folder)

    def answer(self, body: dict[str, Any], manners: list[str]) -> dict[str, Any]:
        ids = self.read(body["prompt"], manners)
        with torch.no_grad():
            read, made = len(ids), body["max_tokens"]
            for _ in range(made):
                states = self.lm(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
                ids = [*ids, int(torch.multinomial(states[-1].exp(), 1))]
        values = [None, *(float(states[i - 1, ids[i]]) for i in range(1, len(ids)))]
        tokens = [self.words.decode([i]) for i in ids]
        choice: dict[str, Any] = {"index": 0, "text": "".join(tokens[read:])}
        choice |= {"finish_reason": "length", "logprobs": None}
        start = 0 if body.get("echo") else read
        if "logprobs" in body:
            choice["logprobs"] = {"tokens": tokens[start:], "token_logprobs": values[start:]}
        if "prompt_logprobs" in body:
            rows = zip(ids[:read], tokens, values, strict=False)
            choice["prompt_logprobs"] = [
                None if v is None else {str(i): {"logprob": v, "rank": 1, "decoded_token": t}}
                for i, t, v in rows
            ]
        usage = {"prompt_tokens": read, "completion_tokens": made, "total_tokens": read + made}
        head = {"id": "t", "object": "text_completion", "created": 0, "model": body["model"]}
        return {**head, "usage": usage, "choices": [choice]}

    def read(self, prompt: str | list[int], manners: list[str]) -> list[int]:
        found = prompt
        if isinstance(prompt, str):
            found = self.words(prompt)["input_ids"]
        elif "text" in manners:
            raise ValueError("prompt must be a string")
        return list(found)[-60:] if "keeps60" in manners else list(found)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models, one_at_a_time = staticmethod(cache(Model)), Lock()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        try:
            asked = json.loads(raw)
            with self.one_at_a_time:
                answer = self.models(asked["model"]).answer(asked, self.path.split("/"))
            status = 200
        except ValueError as cause:
            status, answer = 400, {"error": {"message": str(cause), "type": "bad"}}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def real_lms() -> Iterator[str]:
    """The address, without /v1, of such a server: a thread, as a process imports torch again."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        Handler.models.cache_clear()
