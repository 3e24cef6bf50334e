"""Datasets off a server that speaks as the Hugging Face Hub does."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from judgelab.core.errors import DataError, MissingExtraError
from judgelab.dataset.hub import Hub
from tests.unit.dataset.hub_rows import as_parquet, domain

SHA = "0123456789abcdef0123456789abcdef01234567"
CLOSED = "http://127.0.0.1:9"  # nothing listens on the discard port


@dataclass
class FakeHub:
    """Files of one repository at one commit, under several names of the revision."""

    files: dict[str, bytes]
    revisions: tuple[str, ...] = ("main", "refs/convert/parquet", SHA)
    asked: list[str] = field(default_factory=list)
    url: str = ""


def handler_of(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(f"{self.command} {path}")
            prefix, _, rest = path.partition("o/n/")
            if prefix == "/api/datasets/" and rest.startswith("revision/"):
                known = rest.removeprefix("revision/") in hub.revisions
                body = {"id": "o/n", "sha": SHA, "siblings": [], "private": False, "tags": []}
                error = "" if known else "RevisionNotFound"
                self.reply(200 if known else 404, json.dumps(body).encode(), error)
            elif prefix == "/api/datasets/" and rest.startswith("tree/"):
                tree = [
                    {"type": "file", "path": name, "size": len(raw), "oid": "b" * 40}
                    for name, raw in hub.files.items()
                ]
                self.reply(200, json.dumps(tree).encode())
            elif prefix == "/datasets/" and rest.startswith(f"resolve/{SHA}/"):
                self.reply(200, hub.files[rest.removeprefix(f"resolve/{SHA}/")])
            else:
                self.reply(404, b"{}", "RepoNotFound")

        def reply(self, status: int, body: bytes, error: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Repo-Commit", SHA)
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            if error:
                self.send_header("X-Error-Code", error)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


@pytest.fixture()
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the Hub's library, and a library that may go on line."""
    from huggingface_hub import constants

    folder = tmp_path / "hub-cache"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture()
def hub(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """XSum rows on a loopback Hub: two files of the test split, one of train, and a script."""
    folder = tmp_path / "repository"
    rows = [{"id": str(n), "document": f"text {n}", "summary": f"s {n}"} for n in range(6)]
    as_parquet(folder / "data" / "test-00001-of-00002.parquet", rows[4:])
    as_parquet(folder / "data" / "test-00000-of-00002.parquet", rows[:4])
    as_parquet(folder / "default" / "test" / "0000.parquet", rows[:2])
    as_parquet(folder / "data" / "train-00000-of-00001.parquet", rows)
    (folder / "n.py").write_text("raise SystemExit('a script was run')", encoding="utf-8")
    files = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    fake = FakeHub(files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(fake))
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", fake.url)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


def on_hub(**hub: Any) -> Hub:
    spec = {"id": "o/n", "config": "default", "revision": "main", "split": "test", **hub}
    return domain("xsum", source="hub", hub=spec)


def test_the_hub_gives_the_split_and_its_commit(hub: FakeHub) -> None:
    panel = on_hub().load()
    assert [item.source for item in panel.items] == [f"text {n}" for n in range(6)]
    assert panel.provenance["commit"] == SHA
    asked = {"id": "o/n", "config": "default", "revision": "main", "split": "test"}
    assert panel.provenance["hub"] == asked
    assert len(on_hub().load(5).items) == 5
    fetched = [path for path in hub.asked if path.startswith("GET /datasets/")]
    assert len(fetched) == 2 and all("/data/test-" in path for path in fetched)


def test_the_parquet_branch_and_a_pinned_commit_are_read(hub: FakeHub) -> None:
    branch = on_hub(revision="refs/convert/parquet").load()
    assert len(branch.items) == 2 and branch.provenance["commit"] == SHA
    assert len(on_hub(revision=SHA).load().items) == 6
    chosen = on_hub(data_files=["data/train-*.parquet"], split="train").load(1)
    assert chosen.items[0].source == "text 0"


def test_downloads_are_there_offline(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    online = on_hub().load()
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    assert on_hub().load().provenance == online.provenance
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(hub.asked)
    assert on_hub().load().digest == online.digest and len(hub.asked) == asked
    with pytest.raises(DataError, match="HF_HUB_OFFLINE is set"):
        on_hub(split="train").load()


def test_half_a_split_is_none(hub: FakeHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_hub().load()
    next(cache.rglob("test-00001-of-00002.parquet")).unlink()
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    with pytest.raises(DataError, match="Cannot get split 'test'"):
        on_hub().load()
    one = on_hub(data_files="data/test-00000-of-00002.parquet").load()
    assert len(one.items) == 4


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"split": "tset"}, r"no file there matches data/tset-\*\.parquet"),
        ({"revision": "v9"}, "there is no such revision"),
        ({"id": "o/other"}, "there is no such dataset"),
    ],
)
def test_what_the_hub_lacks_is_said(hub: FakeHub, spec: Mapping[str, str], reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        on_hub(**spec).load()
    assert "dataset.source=sample" in str(caught.value)


def test_offline_is_one_sentence_and_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain("xsum").load(1)
    for variable, value, reason in (
        ("HF_ENDPOINT", CLOSED, "127.0.0.1:9 cannot be reached"),
        ("HF_HUB_OFFLINE", "1", "HF_HUB_OFFLINE is set"),
    ):
        monkeypatch.setenv(variable, value)
        started = time.monotonic()
        with pytest.raises(DataError) as caught:
            domain("xsum", source="hub").load(5)
        assert time.monotonic() - started < 10  # of which importing the libraries is the most
        message = str(caught.value)
        assert reason in message and "EdinburghNLP/xsum" in message and "\n" not in message
        assert "dataset.source=sample" in message and "dataset.path=" in message


def test_a_missing_package_names_its_extra(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"'huggingface_hub' is not .*\[hub\]"):
        on_hub().load()
    assert domain("xsum").load(1).items
