"""The page of an audit: verdicts first, in words; many judges stay readable; nothing is silent."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.core.estimator import Estimator
from judgelab.report import console, page
from judgelab.report.figures import draw
from judgelab.report.jobs import jobs
from judgelab.report.sweep_tables import shown
from judgelab.report.tables import frame
from tests.unit.report.audit_results import audit_result
from tests.unit.report.report_results import HOSTILE, write_job, write_run
from tests.unit.report.test_page import Reader, fetched

FOUR = audit_result()
MANY = audit_result(tuple(np.linspace(0.4, 0.97, 40)))


def written(found: dict[str, Any], folder: Path) -> str:
    return page.write(write_run(folder, found)).read_text(encoding="utf-8")


def test_the_page_opens_with_one_sentence_for_each_verdict(tmp_path: Path) -> None:
    headings = [heading for heading, _ in FOUR["answer"]]
    assert headings == [
        "Trust: 1 of 4 judges",
        "Trust after correction: 1 of 4 judges",
        "Do not trust: 2 of 4 judges",
    ]
    text = " ".join(Reader(written(FOUR, tmp_path)).texts)
    places = [text.index(heading) for heading in headings]
    after = [text.index(each) for each in ("Who can be trusted", "Evidence, side by side")]
    sections = [text.index(each) for each in ("Is it surely better", "What is known?", "A note.")]
    assert places == sorted(places)
    assert max(places) < min(after)
    assert max(after) < min(sections)
    assert "judge 2 is no better, or hardly, than something that knows nothing" in text
    assert "judge 3 is moved by a manipulation" in text
    assert "Not answered. Two raters of the same items." in text
    assert "Not answered here: alone (study.parts)." in text


def test_many_judges_are_grouped_and_folded(tmp_path: Path) -> None:
    text = written(MANY, tmp_path)
    counts = {verdict: sum(one["verdict"] == verdict for one in rows(MANY)) for verdict in said()}
    assert sum(counts.values()) == 40
    for verdict, n in counts.items():
        assert f"<h3>{verdict} ({n})</h3>" in text
        assert (f"<summary>{n - 5} more: {verdict} ({n})</summary>" in text) == (n > 5)
    assert "<summary>35 more</summary>" in text
    assert all(len(sentence) < 700 for _, sentence in MANY["answer"])
    assert " more: trust" not in written(FOUR, tmp_path / "four")


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = next(t for t in found["tables"] if t["name"] == "verdicts")[
        "rows"
    ]
    return table


def said() -> list[str]:
    return list(dict.fromkeys(one["verdict"] for one in rows(MANY)))


def test_verdicts_are_sorted_and_counted_in_the_summary() -> None:
    assert [one["judge"] for one in rows(FOUR)] == ["judge 0", "judge 1", "judge 3", "judge 2"]
    summary = FOUR["summary"]
    assert summary["verdict"] == "1 trust, 1 trust after correction, 2 do not trust"
    assert (summary["judges"], summary["trusted"], summary["not_trusted"]) == (4, 1, 2)
    assert summary["judge 0/agreement_low"] < summary["judge 0/agreement"]
    assert not [key for key in MANY["summary"] if key.endswith("/agreement")]


def test_names_of_judges_are_texts(tmp_path: Path) -> None:
    found = audit_result()
    for table in found["tables"]:
        for row in table["rows"]:
            if "judge" in row:
                row["judge"] = f"{HOSTILE} {row['judge']}"
    found["answer"][0][1] = HOSTILE
    text = written(found, tmp_path)
    assert "script" in Reader(text).tags
    assert Reader(text).tags.count("script") == 1
    assert not fetched(text)


def test_the_console_says_the_verdicts_first() -> None:
    text = console.rendered(console.screen(FOUR, Path("run")), 100)
    assert text.index("Trust: 1 of 4 judges") < text.index("Evidence, side by side")
    assert text.index("Trust: 1 of 4 judges") < text.index("\nVerdicts")
    one = {field.name: "gppm" for field in fields(Estimator)}
    asked = FOUR | {"estimators": [one | {"model": f"lm{k}"} for k in range(5)]}
    text = console.rendered(console.screen(asked, Path("run")), 100)
    assert text.index("Evidence, side by side") < text.index("Estimator: gppm with lm0")
    assert text.count("Estimator: ") == 3  # one for each judge that is asked
    assert "2 estimators more in the report" in text


def test_the_figure_shows_every_judge() -> None:
    for found, marks in ((FOUR, 4), (MANY, 40)):
        tables = {table["name"]: frame(table) for table in found["tables"]}
        side = draw("audit", tables).figure.axes[0]
        points = [one for one in side.lines if one.get_marker() in "osX" and one.get_marker()]
        assert len(points) == marks
        assert "Not drawn" not in draw("audit", tables).caption
    tables = {table["name"]: frame(table) for table in FOUR["tables"]}
    tables["evidence"].loc[1, "agreement"] = np.nan  # all its grades are alike
    assert "Not drawn, for want of an agreement: judge 1." in draw("audit", tables).caption


def test_a_sweep_shows_the_verdict_of_each_audit(tmp_path: Path) -> None:
    for number, accuracies in enumerate(((0.95,), (0.5,))):
        found = audit_result((*accuracies, 0.5))  # the last one falls for markers
        run = str(write_run(tmp_path / f"run{number}", found).path)
        write_job(tmp_path, number, {"evaluation_lm": f"lm{number}"}, status="done", run=run)
    shown_as = {column.heading: column.cells for column in shown(jobs(tmp_path))}
    assert shown_as["verdict"] == ("1 trust, 1 do not trust", "2 do not trust")
