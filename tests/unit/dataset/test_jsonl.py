"""A user's own panel: what is read, and how every fault is reported."""

from __future__ import annotations

import json
import math
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.jsonl import Jsonl

GOOD = {"id": "a", "source": "The sky.", "responses": {"A": "blue", "B": "grey"}, "human": {"A": 4}}


def written(folder: Path, *lines: Any) -> str:
    """The path of a file with these lines; what is not text is written as JSON."""
    file = folder / "panel.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(file)


def refusal(folder: Path, *lines: Any, **options: Any) -> str:
    """The message with which a file of these lines is refused."""
    with pytest.raises(DataError) as caught:
        Jsonl(path=written(folder, *lines), **options).load()
    return str(caught.value)


def test_limit_cuts_items_but_the_whole_file_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs dataset.path=FILE"):
        Jsonl(path="")
    rows = [{"id": i, "source": "x", "responses": {"A": "t"}} for i in range(5)]
    panel = Jsonl(path=written(tmp_path, *rows)).load(2)
    assert len(panel.items) == 2 and panel.provenance["rows"] == 2
    with pytest.raises(DataError, match="line 6: source is missing"):
        Jsonl(path=written(tmp_path, *rows, {"id": 9})).load(2)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{bad", "not usable JSON"),
        ("[" * 100_000, "too deep"),
        ({"id": "first"}, "the id 'first' was used in line 1"),
        ({"id": "b", "source": None}, "source is missing"),
        ({"id": " "}, "id is empty"),
        ('{"id": "b", "source": "\\ud800"}', "is not valid Unicode"),
        ({"reference": [3]}, "the cell 'reference' is no number and no Unicode text"),
        ({"human": "good"}, "must be objects, whose keys are agents"),
        ({"human": {"A": "good"}}, "people said 'good', which is no number"),
        ({"human": {"A": 1e13}}, "is beyond 1e12"),
        ({"human": {"C": 1}}, "'C' has no response in this file"),
        ({"respones": {}}, "unknown key 'respones', did you mean 'responses'?"),
    ],
)
def test_a_bad_line_has_its_number_and_reason(tmp_path: Path, line: Any, reason: str) -> None:
    line = {**GOOD, "id": "b", **line} if isinstance(line, dict) else line
    message = refusal(tmp_path, {**GOOD, "id": "first"}, "", line)
    assert "has 1 problem;" in message
    assert "line 3: " in message and reason in message


def test_agents_that_are_named_have_a_response(tmp_path: Path) -> None:
    said = refusal(tmp_path, GOOD, agents={"A": None, "BB": "Style"})
    assert "dataset.agents: 'BB' has no text in this table, did you mean 'B'?" in said
    some = Jsonl(path=written(tmp_path, GOOD), agents={"B": "Style"}).load().agents
    assert [(one.name, one.category) for one in some] == [("B", "Style"), ("A", None)]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
FULL = TEXT.filter(lambda text: bool(text.strip()))
SCORE = st.floats(-1e12, 1e12) | st.integers(-(10**6), 10**6)
NAME = st.text(string.ascii_letters, min_size=1, max_size=6)


def rows() -> SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries(
        {"source": FULL, "responses": st.dictionaries(NAME, FULL | st.none(), max_size=4)},
        optional={"reference": TEXT | st.none(), "synopsis": TEXT | st.none()},
    )
    return st.lists(row, min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows(), st.booleans(), st.data())
def test_written_is_loaded(tmp_path: Path, lines: Any, ascii_only: bool, data: Any) -> None:
    names = sorted({k for line in lines for k, v in line["responses"].items() if v is not None})
    for number, line in enumerate(lines):
        line["id"] = f"row {number}"
        if names:
            line["human"] = data.draw(st.dictionaries(st.sampled_from(names), SCORE))
    path = written(tmp_path, *[json.dumps(line, ensure_ascii=ascii_only) for line in lines])
    panel = Jsonl(path=path).load()
    assert sorted(agent.name for agent in panel.agents) == names
    for line, item, texts in zip(lines, panel.items, panel.texts, strict=True):
        assert item.id == line["id"] and item.source == line["source"]
        for key, value in (("reference", item.reference), ("synopsis", item.synopsis)):
            given_text = line.get(key)
            assert value == (given_text if given_text and given_text.strip() else None)
        assert item.human == {k: float(v) for k, v in line.get("human", {}).items()}
        answers = dict(zip([agent.name for agent in panel.agents], texts, strict=True))
        assert answers == {name: line["responses"].get(name) for name in names}


def test_several_raters_are_kept_apart_and_their_mean_is_the_human_score(tmp_path: Path) -> None:
    named = {**GOOD, "human": {"A": {"ann": 4, "bob": 1}, "B": {"bob": 3, "cem": None}}}
    plain = {**GOOD, "id": "b", "human": {"A": 5}}
    panel = Jsonl(path=written(tmp_path, named, plain)).load()
    assert [item.human for item in panel.items] == [{"A": 2.5, "B": 3.0}, {"A": 5.0}]
    table = panel.judgments
    assert table is not None and table.raters == ("ann", "bob", "people")
    assert table.units.item.tolist() == ["a", "a", "b", "b"]
    assert str(table.labels.tolist()) == str(
        [[4.0, 1.0, math.nan], [math.nan, 3.0, math.nan], [math.nan, math.nan, 5.0], [math.nan] * 3]
    )
