"""Domains: their three sources, the faults of rows, and the Hub on and off line.

The Hub of these tests is a server on loopback that speaks the four calls a download makes, so
that the real libraries resolve a revision, download parquet, cache it and read it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judgelab.core.errors import ConfigError, DataError
from tests.unit.dataset.hub_rows import as_parquet, domain, hub_row, xsum

DOMAINS = [
    *("wmt14", "opus_books", "samsum", "pubmed", "multi_news", "billsum", "cnn_dailymail"),
    *("reddit_tifu", "xsum", "iclr2023"),
]


def as_jsonl(file: Path, *rows: Any) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


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


def test_a_limit_counts_items_and_not_rows(tmp_path: Path) -> None:
    rows = [{"id": k, "document": x, "summary": "b"} for k, x in enumerate(["", "a", "", "c", "d"])]
    panel = xsum(as_jsonl(tmp_path / "x.jsonl", *rows)).load(2)
    assert [item.source for item in panel.items] == ["a", "c"]


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
        ({"id": "1", "document": "x"}, "'summary' is missing; columns present: id, document"),
        ({"id": "1", "document": 5, "summary": "s"}, "'document' is not text but int"),
        ({"id": None, "document": "x", "summary": "s"}, "'id' is empty"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: Mapping[str, Any], reason: str) -> None:
    file = as_jsonl(tmp_path / "x.jsonl", {"id": "0", "document": "x", "summary": "s"}, row)
    with pytest.raises(DataError) as caught:
        xsum(file).load()
    assert str(caught.value).startswith("Row 1 (the first is 0) of dataset 'xsum'")
    assert reason in str(caught.value)


def test_wrong_settings_are_refused_with_a_hint(tmp_path: Path) -> None:
    for options, hint in (
        ({"source": "web"}, "sample, hub, path"),
        ({"source": "path"}, "go together"),
        ({"fields": {"source": "document", "refrence": "summary"}}, "Did you mean 'reference'"),
        ({"fields": {"source": None}}, "source=None must be a valid string"),
        ({"hub": {"revison": "main"}}, "Did you mean 'revision'"),
    ):
        with pytest.raises(Exception, match=hint) as caught:
            domain("xsum", **options)
        assert isinstance(caught.value.__cause__ or caught.value, ConfigError)
    with pytest.raises(DataError, match="save it as .csv"):
        xsum(tmp_path / "x.xlsx").load()
    with pytest.raises(DataError, match="no file"):
        xsum(tmp_path / "y.jsonl").load()


def test_the_last_turn_is_the_reference_and_the_others_the_source(tmp_path: Path) -> None:
    panel = domain("dailydialog").load()
    assert len(panel.items) == 12 and panel.task == "dialogue"
    assert all(item.source.count("\n") >= 2 and item.reference for item in panel.items)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"dialog": ["Hello.", "Hi.", "Bye."], "act": [1, 1, 1]}))
    [item] = domain("dailydialog", source="path", path=str(file)).load().items
    assert (item.source, item.reference) == ("Hello.\nHi.", "Bye.")


def test_questions_come_without_references(tmp_path: Path) -> None:
    panel = domain("nf_cats").load()
    sources = [item.source for item in panel.items]
    assert len(set(sources)) == 16 and all(source.endswith("?") for source in sources)
    assert all(item.reference is None for item in panel.items)
    file = tmp_path / "test.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([["question", "category"], ["Why, then?", "REASON"]])
    assert domain("nf_cats", source="path", path=str(file)).load().items[0].source == "Why, then?"
    with pytest.raises(ConfigError, match="dataset.hub.id"):
        domain("nf_cats", source="hub").load()
