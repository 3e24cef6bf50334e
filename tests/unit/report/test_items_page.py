"""The page of items: made from records alone; texts are data; what it leaves out is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.report import items_page, page
from judgelab.report.items_page import ItemRows
from judgelab.store.run_dir import RunDir
from tests.unit.report.item_records import scored_run
from tests.unit.report.report_results import HOSTILE, result, write_run
from tests.unit.report.test_page import Reader

END = '</script><img src=x onerror="alert(1)"><!-- <script> \u2028 \U0001f600'


def small(folder: Path, text: str = "A text.") -> RunDir:
    """Two items of two texts; people disagree with the score on the second."""
    scores = {("q1", "a"): 9.0, ("q1", "b"): 8.0, ("q2", "a"): 9.0, ("q2", "b"): 7.0}
    grades = {("q1", "a"): 3.0, ("q1", "b"): 2.0, ("q2", "a"): 1.0, ("q2", "b"): 2.0}
    rows = [
        {"item": item, "agent": agent, "text": f"{text} {agent}", "score": score}
        for (item, agent), score in scores.items()
    ]
    labels = [(*unit, "ana", value) for unit, value in grades.items()]
    reply = {"item": "q2", "agent": "b", "reply": f"Grade: none. {text}", "reason": "no grade"}
    return scored_run(folder, rows, {"q1": f"One. {text}", "q2": "Two."}, labels, [reply])


def embedded(run: RunDir) -> dict[str, Any]:
    text = (run.path / "items.html").read_text(encoding="utf-8")
    part = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    found: dict[str, Any] = json.loads(part)
    return found


def test_the_report_links_to_it_and_it_is_made_again_from_disk(tmp_path: Path) -> None:
    run = small(tmp_path)
    report = page.write(run).read_text(encoding="utf-8")
    assert '<a href="items.html">' in report
    before = (run.path / "items.html").read_bytes()
    (run.path / "items.html").unlink()
    page.write(run)
    assert (run.path / "items.html").read_bytes() == before


def test_rows_hold_all_that_was_said_and_disagreement_stands_first(tmp_path: Path) -> None:
    run = small(tmp_path)
    page.write(run)
    data = embedded(run)
    assert (data["judges"], data["raters"]) == (["mi"], ["ana"])
    first = data["rows"][:2]
    assert {data["items"][row["item"]][0] for row in first} == {"q2"}
    assert [row["difference"] for row in data["rows"]] == [[1], [1], [0], [0]]
    (row,) = [row for row in first if row["agents"] == ["b"]]
    assert (row["texts"], row["values"], row["labels"]) == (["A text. b"], [[7]], [2])
    (reply,) = [data["replies"][k] for k in row["replies"]]
    assert (reply[3], reply[6]) == ("Grade: none. A text.", "no grade")


def test_items_in_tables_of_the_report_lead_to_their_rows(tmp_path: Path) -> None:
    run = small(tmp_path)
    found = run.read_json("result.json")
    rows = [{"turn": 1, "item": "q2"}, {"turn": 2, "item": "gone & away"}]
    found["tables"].append({"name": "next_labels", "title": "Next", "note": "", "rows": rows})
    run.write_json("result.json", found)
    report = page.write(run).read_text(encoding="utf-8")
    assert '<a href="items.html#item=q2">q2</a>' in report
    assert ">gone &amp; away</td>" in report


def test_a_run_without_texts_has_no_such_page(tmp_path: Path) -> None:
    run = write_run(tmp_path, result())
    run.write_text("items.html", "of an earlier execution")
    assert "items.html" not in page.write(run).read_text(encoding="utf-8")
    assert not (run.path / "items.html").exists()


@pytest.mark.parametrize("text", [END, HOSTILE, "{{ 7 * 7 }}{% raw %}"])
def test_a_hostile_text_is_data(tmp_path: Path, text: str) -> None:
    run = small(tmp_path, text)
    page.write(run)
    reader = Reader((run.path / "items.html").read_text(encoding="utf-8"))
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert not any(key.startswith("on") for key, _ in reader.attributes)
    assert embedded(run)["items"][embedded(run)["rows"][-1]["item"]][1] == f"One. {text}"


def test_what_has_no_room_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = small(tmp_path)
    monkeypatch.setattr(items_page, "MOST", 3)
    monkeypatch.setattr(items_page, "LONGEST", 4)
    page.write(run)
    text = (run.path / "items.html").read_text(encoding="utf-8")
    assert "1 of 4 rows, those last in this order, are left out of this page." in text
    assert len(embedded(run)["rows"]) == 3
    assert embedded(run)["rows"][0]["texts"] == ["A te … (5 characters more, in records/)"]


NAN = float("nan")


def rows(kind: Any, items: str, values: Any, labels: Any, levels: Any = ()) -> ItemRows:
    """One row for each letter of ``items``; every verdict was asked for, [rows, judges(, orders)].
    A number for a row is that of one judge."""
    n = len(items)
    said = np.array(values, float).reshape(n, *np.shape(values)[1:2] or (1,), -1).swapaxes(0, 1)
    units = Units.of(list(items), [f"a{k}" for k in range(n)])
    raters = tuple(f"r{k}" for k in range(len(labels[0])))
    judges = tuple(JudgeFacts(f"j{k}") for k in range(len(said)))
    given = np.array(labels, float), judges, said, np.ones(said.shape, bool)
    table = JudgmentTable(kind, units, raters, *given, levels=levels)
    return ItemRows(table, np.array([""] * n, object), np.full(n, np.nan))


@pytest.mark.parametrize(
    ("items", "values", "people", "unit", "difference"),
    [
        ("ab", [5.0, 2.0], [[1.0, 2.0], [5.0, NAN]], "points", [3.5, 3.0]),
        # of y one text has a grade, so it has no place
        ("xxxyy", [9, 8, 7, 6, NAN], [[1], [2], [3], [2], [2]], "places", [1, 0, 1, NAN, NAN]),
        ("x" * 40, [0, *[1, 3, 5] * 13], [[1], *[[1], [3], [5]] * 13], "points", [1] + [0] * 39),
        # nats within the range of grades are no grades
        ("xxx", [1.31, 2.7, 4.2], [[1], [3], [5]], "places", [0, 0, 0]),
        # items of one text are compared among all
        ("abc", [30, 20, 10], [[1], [2], [3]], "places", [1, 0, 1]),
    ],
)
def test_grades_differ_in_points_or_in_places(
    items: str, values: list[Any], people: list[list[float]], unit: str, difference: list[float]
) -> None:
    made = rows("grade", items, values, people)
    assert made.unit == unit
    assert np.array_equal(made.difference[:, 0], difference, equal_nan=True)
    assert next(iter(made.sorts)) == "difference"


def test_preferences_differ_by_both_orders_and_all_raters() -> None:
    """A judge that takes the first text both times is half wrong; one lost order is no verdict."""
    values = [[[1.0, 0.0], [1.0, 1.0]], [[1.0, NAN], [0.0, 0.0]]]
    made = rows("preference", "ab", values, [[1.0, 1.0], [1.0, 0.0]])
    assert np.array_equal(made.difference, [[0.5, 0.0], [NAN, 0.5]], equal_nan=True)
    assert made.unscored.tolist() == [False, True]


def test_categories_differ_by_the_share_of_raters() -> None:
    labels = [[0.0, 1.0], [0.0, NAN], [0.0, 0.0]]
    made = rows("category", "abc", [0.0, 1.0, NAN], labels, levels=("no", "yes"))
    assert np.array_equal(made.difference[:, 0], [0.5, 1, NAN], equal_nan=True)
