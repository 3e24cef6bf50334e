"""A server on this machine that speaks W&B's GraphQL, as far as saving a dashboard needs it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROJECT = {"id": "UHJvamVjdA==", "internalId": "UHJvamVjdA==", "name": "judgelab"}
LAST_PAGE = {"endCursor": None, "hasNextPage": False}


class WandbServer:
    """What it was sent, and what it keeps.

    Attributes:
        views: id -> workspace or report, as the last mutation left it.
        charts: name -> preset.
        sweeps: groups of which it holds a run of type sweep.
    """

    def __init__(self, sweeps: list[str]) -> None:
        self.sweeps = sweeps
        self.views: dict[str, dict[str, Any]] = {}
        self.charts: dict[str, dict[str, Any]] = {}

    def answer(self, query: str, given: dict[str, Any]) -> dict[str, Any]:
        """The data of a reply; a mutation or query that is not known is refused."""
        if "upsertView" in query:
            return {"upsertView": {"view": self._upsert(given), "inserted": "id" not in given}}
        if "createCustomChart" in query:
            return self._chart(given)
        if "allViews" in query:
            return {"project": {"allViews": _page(self._matching(given))}}
        if "runs(" in query:
            return {"project": {**PROJECT, "runCount": len(self.sweeps), "runs": self._runs(given)}}
        if "internalId" in query:
            return {"project": PROJECT}
        if "models(" in query:
            project = {**PROJECT, "entityName": "team", "createdAt": "", "isBenchmark": False}
            return {"models": _page([{**project, "user": None}])}
        if "viewer" in query:
            me = {"id": "u", "entity": "team", "username": "me", "email": "", "flags": "{}"}
            return {"viewer": me | {"teams": {"edges": []}}}
        raise AssertionError(f"an unknown query: {query[:300]}")

    def _upsert(self, given: dict[str, Any]) -> dict[str, Any]:
        key = given.get("id") or f"View{len(self.views)}"
        project = {**PROJECT, "entityName": given["entityName"]}
        kept = {"id": key, "project": project, "updatedAt": None, "description": "", **given}
        self.views[key] = {**kept, "id": key}
        return self.views[key]

    def _chart(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["chartName"] in self.charts:
            raise FileExistsError("a chart of that name already exists")
        self.charts[given["chartName"]] = given
        return {"createCustomChart": {"chart": {"id": given["chartName"]}}}

    def _matching(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        kind, name = given.get("viewType") or "runs", given.get("viewName")
        facts = {"user": {"username": "me"}, "createdAt": "", "updatedAt": ""}
        return [
            {**view, **facts}
            for view in self.views.values()
            if view["type"] == kind and name in (None, view["name"])
        ]

    def _runs(self, given: dict[str, Any]) -> dict[str, Any]:
        assert json.loads(given["filters"]) == {"jobType": "sweep"}
        rest = ("summaryMetrics", "systemMetrics", "config", "events", "historyKeys")
        facts: dict[str, Any] = {**dict.fromkeys(rest, "{}"), "user": {"name": "me"}, "tags": []}
        empty = ("heartbeatAt", "description", "notes", "displayName", "sweepName")
        facts |= dict.fromkeys(empty, "") | {"state": "finished", "jobType": "sweep"}
        facts |= {"createdAt": "2026-01-01T00:00:00", "readOnly": False, "historyLineCount": 0}
        return _page([{**facts, "id": one, "name": one, "group": one} for one in self.sweeps])


def _page(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"edges": [{"node": one, "cursor": "c"} for one in nodes], "pageInfo": LAST_PAGE}


@contextmanager
def serving(server: WandbServer) -> Iterator[str]:
    """Its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            asked = {"query": "viewer", **json.loads(body or "{}")}
            said: dict[str, Any]
            try:
                said = {"data": server.answer(asked["query"], asked.get("variables") or {})}
            except FileExistsError as cause:
                said = {"errors": [{"message": str(cause)}], "data": None}
            reply = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that left
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
