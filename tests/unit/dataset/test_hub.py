"""Domains: their three sources, the faults of rows, and the Hub on and off line.

The Hub of these tests is a server on loopback that speaks the four calls a download makes, so
that the real libraries resolve a revision, download parquet, cache it and read it.
"""

from __future__ import annotations

import csv
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

import pandas as pd
import pytest
import yaml
from hydra.utils import instantiate

from judgelab.core.errors import ConfigError, DataError, MissingExtraError
from judgelab.dataset.hub import Hub
from judgelab.dataset.provenance import SAMPLES, split_patterns
from judgelab.store.network import why_offline

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"
DOMAINS = [
    *("wmt14", "opus_books", "samsum", "pubmed", "multi_news", "billsum", "cnn_dailymail"),
    *("reddit_tifu", "xsum", "iclr2023"),
]
SHA = "0123456789abcdef0123456789abcdef01234567"
CLOSED = "http://127.0.0.1:9"  # nothing listens on the discard port


def domain(name: str, **options: Any) -> Hub:
    config = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    loaded: Hub = instantiate({**config, **options})
    return loaded


def hub_row(name: str, number: int) -> dict[str, Any]:
    """A row in the columns the Hub has for a domain (samples add to them at most a gloss)."""
    first = json.loads((SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row: dict[str, Any] = {k: v for k, v in first.items() if k != "gloss"}
    for key in ("id", "paper_id"):
        if key in row:
            row[key] = f"row-{number}"
    if "paper_json" in row:  # one JSON text a row on the Hub
        row["paper_json"] = json.dumps(row["paper_json"])
    return row


def as_parquet(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(file)
    return file


def as_jsonl(file: Path, *rows: Any) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def xsum(file: Path, **options: Any) -> Hub:
    return domain("xsum", source="path", path=str(file), **options)


@pytest.mark.parametrize("name", DOMAINS)
def test_samples_and_hub_rows_fit_the_columns_of_the_config(name: str, tmp_path: Path) -> None:
    sample = domain(name).load()
    assert len(sample.items) >= 12 and sample.agents == ()
    assert sample.provenance["source"] == "sample" and sample.provenance["dataset"] == name
    assert all(item.source and item.reference for item in sample.items)
    file = as_parquet(tmp_path / "rows.parquet", [hub_row(name, number) for number in range(3)])
    panel = domain(name, source="path", path=str(file)).load()
    assert [item.source for item in panel.items] == [sample.items[0].source] * 3
    assert panel.items[0].reference == sample.items[0].reference
    assert panel.items[0].synopsis == sample.items[0].synopsis
    assert "gloss" not in panel.items[0].meta


def test_rows_are_named_by_id_or_by_domain_and_number(tmp_path: Path) -> None:
    rows = [{"id": 3, "document": "a", "summary": "b"}, {"id": "x", "document": "c", "summary": ""}]
    panel = xsum(as_jsonl(tmp_path / "x.jsonl", *rows)).load()
    assert [item.id for item in panel.items] == ["3", "x"]
    assert [item.reference for item in panel.items] == ["b", None]
    fields = {"source": "document", "id": None}
    unnamed = xsum(as_jsonl(tmp_path / "x.jsonl", *rows), fields=fields).load()
    assert [item.id for item in unnamed.items] == ["xsum-0", "xsum-1"]
    assert unnamed.items[0].reference is None


def test_all_kinds_of_file_give_the_same_panel(tmp_path: Path) -> None:
    rows = [
        {"id": f"00{n}", "document": f'One, "two"\nthree {n}', "summary": "NA" if n else "s é"}
        for n in range(4)
    ]
    files = [as_jsonl(tmp_path / "x.jsonl", *rows), as_parquet(tmp_path / "x.parquet", rows)]
    files.append(tmp_path / "x.json")
    files[-1].write_text(json.dumps(rows), encoding="utf-8")
    files.append(tmp_path / "x.csv")
    with files[-1].open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    panels = [xsum(file).load(3) for file in files]
    assert len({panel.digest for panel in panels}) == 1
    assert [item.id for item in panels[0].items] == ["000", "001", "002"]
    assert panels[0].items[1].reference == "NA"
    assert {panel.provenance["rows"] for panel in panels} == {3}
    assert len({str(panel.provenance["content"]) for panel in panels}) == 1


def test_a_translation_carries_its_gloss_only_where_there_is_one(tmp_path: Path) -> None:
    assert all(item.meta["gloss"] for item in domain("wmt14").load().items)
    row = {"translation": {"de": "Ja.", "en": "Yes."}}
    panel = domain("wmt14", source="path", path=str(as_jsonl(tmp_path / "w.jsonl", row))).load()
    assert (panel.items[0].source, panel.items[0].reference) == ("Ja.", "Yes.")
    assert panel.items[0].meta == {}


def test_a_review_form_becomes_text(tmp_path: Path) -> None:
    form = {"summary_of_the_paper": " It tries. ", "rating": 6, "flags": ["no"], "empty": ""}
    reviews = json.dumps({"reviews": [{"content": form}]})
    row = {"paper_id": "p", "paper_markdown": "# T", "abstract": "A", "paper_json": reviews}
    file = as_jsonl(tmp_path / "p.jsonl", row)
    panel = domain("iclr2023", source="path", path=str(file)).load()
    assert panel.items[0].reference == "Summary Of The Paper:\n\nIt tries.\n\nRating:\n\n6"
    assert panel.items[0].synopsis == "A"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"id": "1", "document": "x"},
            "column 'summary' is missing; columns present: id, document",
        ),
        ({"id": "1", "document": " ", "summary": "s"}, "column 'document' is empty"),
        ({"id": "1", "document": None, "summary": "s"}, "column 'document' is empty"),
        ({"id": "1", "document": 5, "summary": "s"}, "column 'document' is not text but int"),
        ({"id": "1", "document": "x", "summary": ["s"]}, "column 'summary' is not text but list"),
        ({"id": None, "document": "x", "summary": "s"}, "column 'id' is empty"),
        ({"id": "1", "document": "\ud800", "summary": "s"}, "column 'document' is not valid Uni"),
    ],
)
def test_a_bad_row_is_named_with_column_and_reason(
    tmp_path: Path, row: Mapping[str, Any], reason: str
) -> None:
    file = as_jsonl(tmp_path / "x.jsonl", {"id": "0", "document": "x", "summary": "s"}, row)
    with pytest.raises(DataError) as caught:
        xsum(file).load()
    assert str(caught.value).startswith("Row 1 (the first is 0) of dataset 'xsum'")
    assert reason in str(caught.value)


def test_empty_rows_are_left_out_only_on_request_and_named(tmp_path: Path) -> None:
    rows = [{"id": str(n), "document": "x" * (n != 1), "summary": "s"} for n in range(3)]
    file = as_jsonl(tmp_path / "x.jsonl", *rows)
    panel = xsum(file, empty_rows="skip").load()
    assert [item.id for item in panel.items] == ["0", "2"]
    assert panel.provenance["skipped_rows"] == [1] and panel.provenance["rows"] == 2


def test_two_rows_of_one_id_are_refused(tmp_path: Path) -> None:
    row = {"id": "1", "document": "x", "summary": "s"}
    with pytest.raises(DataError, match="'1' occurs twice"):
        xsum(as_jsonl(tmp_path / "x.jsonl", row, row)).load()


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("x.jsonl", b'{"id": 1}\n{bad\n', "line 2: not valid JSON"),
        ("x.jsonl", b'{"id": 1}\n[2]\n', "line 2: a row must be a JSON object"),
        ("x.jsonl", b'{"id": 1}\n{"id": "\xff"}\n', "line 2: not valid UTF-8"),
        ("x.jsonl", b"\n", "no rows"),
        ("x.json", b'{"id": 1}', "must hold a JSON list"),
        ("x.csv", b"id,document\n1,a,b\n", "line 2: this row has not as many fields"),
        ("x.csv", b"id,document\n1\n", "line 2: this row has not as many fields"),
        ("x.parquet", b"PAR1 but not really", "not readable as parquet"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path: Path, name: str, raw: bytes, reason: str
) -> None:
    file = tmp_path / name
    file.write_bytes(raw)
    with pytest.raises(DataError) as caught:
        xsum(file).load()
    assert reason in str(caught.value)


def test_wrong_settings_are_refused_with_a_hint(tmp_path: Path) -> None:
    for options, hint in (
        ({"limit": 0}, "at least 1"),
        ({"limit": -3}, "at least 1"),
        ({"source": "web"}, "sample, hub, path"),
        ({"source": "path"}, "go together"),
        ({"path": "x.jsonl"}, "go together"),
        ({"empty_rows": "drop"}, "error or skip"),
        ({"fields": {"source": "document", "refrence": "summary"}}, "Did you mean 'reference'"),
        ({"fields": {"source": None}}, "must name the column"),
        ({"hub": {"revison": "main"}}, "Did you mean 'revision'"),
    ):
        with pytest.raises(Exception, match=hint) as caught:
            domain("xsum", **options)
        assert isinstance(caught.value.__cause__ or caught.value, ConfigError)
    with pytest.raises(ConfigError, match="at least 1"):
        domain("xsum").load(0)
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="must end in"):
        xsum(tmp_path / "x.txt").load()
    with pytest.raises(DataError, match="no file"):
        xsum(tmp_path / "y.jsonl").load()


def test_where_the_files_of_a_split_lie() -> None:
    def patterns(**hub: Any) -> list[str]:
        return split_patterns({"revision": "main", "split": "test", **hub})

    assert patterns(config="de-en") == ["de-en/test-*.parquet"]
    assert patterns(config="default") == patterns() == ["data/test-*.parquet"]
    assert patterns(revision="refs/convert/parquet") == ["default/test/*.parquet"]
    assert patterns(data_files="a/*.parquet") == ["a/*.parquet"]
    assert patterns(data_files=["a.parquet", "b.parquet"]) == ["a.parquet", "b.parquet"]
    with pytest.raises(ConfigError, match="must name parquet"):
        patterns(data_files="data/test.json")


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


def test_what_was_downloaded_is_there_without_a_network(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    online = on_hub().load()
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    assert on_hub().load().provenance == online.provenance
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(hub.asked)
    assert on_hub().load().digest == online.digest and len(hub.asked) == asked
    with pytest.raises(DataError, match="HF_HUB_OFFLINE is set"):
        on_hub(split="train").load()


def test_a_cache_with_half_of_a_split_is_not_taken_for_the_split(
    hub: FakeHub, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_what_the_hub_does_not_have_is_said(
    hub: FakeHub, spec: Mapping[str, str], reason: str
) -> None:
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


def test_reachability_is_told_in_time_and_through_a_proxy(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_offline(hub.url, offline_mode=False) is None
    assert why_offline(hub.url, offline_mode=True) == "HF_HUB_OFFLINE is set"
    monkeypatch.setenv("http_proxy", CLOSED)
    started = time.monotonic()
    assert why_offline("http://hub.invalid", offline_mode=False) == "127.0.0.1:9 cannot be reached"
    monkeypatch.setenv("http_proxy", hub.url)
    assert why_offline("http://hub.invalid", offline_mode=False) is None
    monkeypatch.setenv("no_proxy", "hub.invalid")
    assert why_offline("http://hub.invalid", offline_mode=False) is not None
    assert time.monotonic() - started < 8


def test_a_missing_package_is_named_with_its_extra(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = as_parquet(tmp_path / "x.parquet", [hub_row("xsum", 0)])
    monkeypatch.setitem(sys.modules, "datasets", None)
    for source in (on_hub(), xsum(file)):
        with pytest.raises(MissingExtraError, match=r"'datasets' is not .*\[hub\]"):
            source.load()
    assert domain("xsum").load(1).items


def test_hub_settings_that_are_missing_are_named() -> None:
    with pytest.raises(ConfigError, match=r"needs dataset\.hub\.revision"):
        domain("xsum", source="hub", hub={"id": "o/n", "split": "test"}).load()
