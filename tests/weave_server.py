"""A server on this machine that speaks Weave's HTTP and W&B's GraphQL, as far as an evaluation
needs them."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WeaveServer:
    """What it was sent, and what it keeps.

    Args:
        refuse: answers the first path that holds this with 403 ("" takes everything).

    Attributes:
        objects: object id -> its last value.
        calls: id -> call, as far as it is known.
        keys: what came as credentials.
        everything: all bodies.
    """

    def __init__(self, refuse: str = "") -> None:
        self.refuse = refuse
        self.objects: dict[str, dict[str, Any]] = {}
        self.tables: list[list[dict[str, Any]]] = []
        self.calls: dict[str, dict[str, Any]] = {}
        self.keys: set[str] = set()
        self.everything = b""

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        """The reply; a path that is not known is refused."""
        if path == "/server_info":
            return {"min_required_weave_python_version": "0.0.1", "trace_server_version": "9999"}
        if path == "/graphql":
            return {"data": _graphql(json.loads(body))}
        if path == "/file/create":
            return {"digest": hashlib.sha256(body).hexdigest()[:43]}
        found = json.loads(body)
        if path == "/table/create":
            self.tables.append(found["table"]["rows"])
            return {"digest": "t" * 43, "row_digests": ["r"] * len(found["table"]["rows"])}
        if path == "/obj/create":
            self.objects[found["obj"]["object_id"]] = found["obj"]["val"]
            return {"digest": hashlib.sha256(body).hexdigest()[:43]}
        if re.fullmatch(r"/v2/team/\w+/calls/complete", path):
            sent = found["batch"]
        else:
            assert re.fullmatch(r"/v2/team/\w+/call/(start|end)", path), path
            sent = [found[path.rpartition("/")[2]]]
        for call in sent:
            known = {name: value for name, value in call.items() if value is not None}
            self.calls.setdefault(call["id"], {}).update(known)
        return {}

    def of(self, op: str) -> list[dict[str, Any]]:
        """Finished calls of an operation, in their order."""
        named = [one for one in self.calls.values() if f"/{op}:" in one["op_name"]]
        assert all("ended_at" in one for one in named)
        return sorted(named, key=lambda one: one["started_at"])


def _graphql(asked: dict[str, Any]) -> dict[str, Any]:
    if "viewer" in asked["query"]:
        return {"viewer": {"username": "me", "defaultEntity": {"name": "team"}}}
    assert "project(" in asked["query"], asked
    return {"project": {"name": asked["variables"]["name"]}}


@contextmanager
def serving(server: WeaveServer) -> Iterator[str]:
    """Its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            server.keys.add(self.headers.get("authorization") or "")
            server.everything += body
            refused = bool(server.refuse) and server.refuse in self.path
            said = {"detail": "no place left"} if refused else server.answer(self.path, body)
            reply = json.dumps(said).encode()
            self.send_response(403 if refused else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = do_PUT = _reply

        def log_message(self, *_: Any) -> None:
            pass

    class Listening(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:  # a client that went away
            pass

    listening = Listening(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
