"""The shipped samples: enough items, none empty, none alike, read by the Hub's own field map."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from statistics import mean

import pytest
import yaml

from judgelab.config import build
from judgelab.core.panel import Item, Panel
from judgelab.dataset.files import read_rows
from judgelab.dataset.hub import Hub
from judgelab.dataset.provenance import SAMPLES

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"
PEERS = {"iclr_reviews", "peer_grading", "yelp"}  # texts by several peers: test_peer_samples.py
OPEN = {"nf_cats"}  # questions without a reference: test_dataset_dialogues.py
FILES = sorted(file for file in SAMPLES.glob("*.jsonl") if file.stem not in PEERS | OPEN)
NAMES = [file.stem for file in FILES]
SHARED_WORDS = 12  # so long a run of words in two items is boilerplate, or a copy
CHOICE = re.compile(r"^\d+: .*$", re.MULTILINE)  # a grade of a review form reads alike by design


@cache
def dataset(name: str) -> Hub:
    """The dataset as a user gets it, so that sample and Hub go through one field map."""
    options = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    made: Hub = build(options | {"source": "sample", "limit": None}, name)
    return made


@cache
def panel(name: str) -> Panel:
    return dataset(name).load()


def words(text: str | None) -> list[str]:
    return re.findall(r"\w+", (text or "").lower())


def runs(item: Item) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for text in (item.source, item.reference):
        told = words(CHOICE.sub("", text or ""))
        found.update(zip(*(told[start:] for start in range(SHARED_WORDS)), strict=False))
    return found


def test_samples_are_shipped() -> None:
    assert "xsum" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_at_least_twelve_items_each_with_source_and_reference(name: str) -> None:
    items = panel(name).items
    assert len(items) >= 12
    assert [item.id for item in items if not (item.source.strip() and item.reference)] == []


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_no_column_is_missing_or_blank(file: Path) -> None:
    rows = read_rows([file])
    for number, row in enumerate(rows, start=1):
        assert row.keys() == rows[0].keys(), f"row {number}"
        blank = [key for key, value in row.items() if value is None or not str(value).strip()]
        assert blank == [], f"row {number}"


@pytest.mark.parametrize("name", NAMES)
def test_ids_sources_and_references_are_unique(name: str) -> None:
    items = panel(name).items
    for values in zip(*((item.id, item.source, item.reference) for item in items), strict=True):
        assert len(set(values)) == len(items)


@pytest.mark.parametrize("name", NAMES)
def test_no_two_items_share_a_run_of_words(name: str) -> None:
    owner: dict[tuple[str, ...], str] = {}
    for item in panel(name).items:
        for run in runs(item):
            first = owner.setdefault(run, item.id)
            assert first == item.id, f"{first} and {item.id}: {' '.join(run)}"


@pytest.mark.parametrize("name", [n for n in NAMES if dataset(n).task == "summarization"])
def test_a_summary_is_shorter_than_its_document(name: str) -> None:
    for item in panel(name).items:
        assert len(words(item.reference)) < len(words(item.source)) / 2, item.id


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("cnn_dailymail", r"[^\n]+\n[^\n]+\n[^\n]+"),
        ("multi_news", r"– .+"),
        ("xsum", r"[^\n]+\."),
        ("reddit_tifu", r"[^\nA-Z]+\."),
    ],
)
def test_references_have_the_shape_of_the_dataset(name: str, shape: str) -> None:
    for item in panel(name).items:
        assert re.fullmatch(shape, item.reference or ""), item.id


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("samsum", r"(?:\w[\w ]*: .+\n?){10,18}"),
        ("multi_news", r"[^|]+(?: \|{5} [^|]+){1,2}"),
        ("billsum", r"SECTION 1\. [^\n]+\.\n\n(?s:.+)\nSEC\. 4\. (?s:.+)"),
        ("reddit_tifu", r"[^A-Z]+"),
    ],
)
def test_sources_have_the_shape_of_the_dataset(name: str, shape: str) -> None:
    for item in panel(name).items:
        assert re.fullmatch(shape, item.source), item.id


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_tells_the_size_of_the_sample(name: str) -> None:
    items = panel(name).items
    source = mean(len(item.source.split()) for item in items)
    reference = mean(len((item.reference or "").split()) for item in items)
    line = f"| {name} | {len(items)} | {source:.0f} | {reference:.0f} |"
    assert line in (SAMPLES / "README.md").read_text(encoding="utf-8")
