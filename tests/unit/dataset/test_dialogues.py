"""Conversations and open questions: samples of our own, and rows of the datasets' layout."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.files import text_at
from tests.unit.dataset.hub_rows import domain


def test_the_last_turn_is_the_reference_and_the_others_the_source(tmp_path: Path) -> None:
    panel = domain("dailydialog").load()
    assert len(panel.items) == 12 and panel.task == "dialogue"
    assert all(item.source.count("\n") >= 2 and item.reference for item in panel.items)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"dialog": ["Hello.", "Hi.", "Bye."], "act": [1, 1, 1]}))
    [item] = domain("dailydialog", source="path", path=str(file)).load().items
    assert (item.source, item.reference) == ("Hello.\nHi.", "Bye.")


def test_a_conversation_of_one_turn_has_no_source(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"dialog": ["Alone."]}))
    with pytest.raises(DataError, match="none of 1 rows is left .*no source"):
        domain("dailydialog", source="path", path=str(file)).load()


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


def test_places_and_slices_of_lists() -> None:
    row = {"turns": ["a", "b", "c"], "packed": json.dumps(["x", "y"]), "numbers": [1, 2]}
    assert text_at(row, "turns.0") == "a" and text_at(row, "turns.-1") == "c"
    assert text_at(row, "turns.1:") == "b\nc" and text_at(row, "packed.:-1") == "x"
    for absent in ("turns.3", "turns.-4", "turns.x"):
        with pytest.raises(KeyError):
            text_at(row, absent)
    with pytest.raises(TypeError, match="not text but list"):
        text_at(row, "numbers.:-1")
