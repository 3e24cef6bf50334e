"""The page of an audit: one sentence first, few tables, every disagreement, one row a judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from judgelab.core.result import Result
from judgelab.report import console, page
from judgelab.report.jobs import jobs
from judgelab.report.sweep import job_columns
from judgelab.study.audit.page import HEADLINES
from judgelab.tracker.protocol import headline
from tests.snapshots import same
from tests.unit.report.audit_results import audit_result, kinds
from tests.unit.report.report_results import write_job, write_run
from tests.unit.report.test_page import Reader

KINDS = kinds()
FOLD = re.compile(r"<details.*?</details>", re.DOTALL)
EACH = pytest.mark.parametrize("kind", KINDS)


def written(found: dict[str, Any], folder: Path) -> str:
    return page.write(write_run(folder, found)).read_text(encoding="utf-8")


def unfolded(text: str) -> str:
    """Without what a reader has to open, style and script."""
    while (less := FOLD.sub("", text)) != text:
        text = less
    return re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL)


def rows(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [row for table in found["tables"] if table["name"] == name for row in table["rows"]]


def test_what_pages_say() -> None:
    """One snapshot of each kind of data."""
    told = {kind: [("Title", found["title"]), *found["answer"]] for kind, found in KINDS.items()}
    same(Path(__file__).with_name("audit_pages.txt"), told.items())


@EACH
def test_the_first_sentence_heads_page_and_console(kind: str, tmp_path: Path) -> None:
    found = KINDS[kind]
    text = written(found, tmp_path)
    for tag in ("title", "h1"):
        (heading,) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.DOTALL)
        assert Reader(heading).texts == [found["title"]]
    (first, *_) = console.rendered(console.screen(found, tmp_path), 400).strip().splitlines()
    assert first == found["title"]
    assert found["title"].endswith(".") and found["title"].count(". ") == 0


@EACH
def test_a_page_is_short_and_always_lists_disagreements(kind: str, tmp_path: Path) -> None:
    text = unfolded(written(KINDS[kind], tmp_path))
    assert text.count("<table") <= 6
    assert len(" ".join(Reader(text).texts).split()) <= 1500
    assert "people differ</h2>" in text
    wrong = rows(KINDS[kind], "disagreements")
    assert wrong and {"item", "people_say"} <= set(wrong[0])
    assert all(len(sentence) < 900 for _, sentence in KINDS[kind]["answer"])
    chart = "<svg" in text
    assert chart == (kind == "many judges")
    assert not chart or all(f"judge {k}<" in text for k in range(40))


def test_wrongly_passed_texts_stand_first() -> None:
    said = [(r["people_say"], r["judge_says"]) for r in rows(KINDS["category"], "disagreements")]
    assert said == [("fail", "pass")] * 13 + [("pass", "fail")] * 5


def test_the_summary_has_the_best_agreement_and_tables_a_row_for_each_judge() -> None:
    for kind, found in KINDS.items():
        told = headline(Result(found["summary"], found["primary"], (), headlines=HEADLINES))
        assert told["primary_is"] == told["people_is"] == "best_agreement"
        judged = [row["judge"] for row in rows(found, "judges")]
        assert len(set(judged)) == len(judged) == (40 if kind == "many judges" else 1)
    assert found["summary"]["verdict"] == "use: 9, not known yet: 7, do not use: 24"


def test_a_sweep_shows_the_verdict_of_each_audit(tmp_path: Path) -> None:
    for number, accuracies in enumerate(((0.95,), (0.95, 0.5))):
        run = str(write_run(tmp_path / f"run{number}", audit_result(accuracies)).path)
        write_job(tmp_path, number, {"evaluation_lm": f"lm{number}"}, status="done", run=run)
    shown_as = {column.heading: column.cells for column in job_columns(jobs(tmp_path))}
    assert shown_as["verdict"] == ("use", "use: 1, do not use: 1")
