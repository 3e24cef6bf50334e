"""The account of calls without a result: groups of reasons, the record, the warnings."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from judgelab.calls.batch import LoggedCall
from judgelab.calls.log import CallLog
from judgelab.core.errors import DataError, PartialRunError
from judgelab.core.judgments import JudgmentTable, Units
from judgelab.core.result import Result, Table
from judgelab.engine import run
from judgelab.engine.provenance import RECORD, missing_verdicts, stem_of, training_of, with_reasons
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring import source as record
from judgelab.store.run_dir import RunDir
from tests.scripted import panel_of

EMPTY = Result({"study": "audit"}, "x", [Table("judges", "", [])], notes=["Data."])


def account(calls: dict[str, int], lost: dict[str, int], reply: str | None = None) -> CallLog:
    """So many calls about each agent, and so many of them lost."""
    log = CallLog()
    for agent, count in calls.items():
        about = {f"{agent}{k}".encode(): ("judge", f"i{k}", agent) for k in range(count)}
        for k, key in enumerate(about):
            row = LoggedCall("evaluation_lm", "chat", about[key])
            if k < lost.get(agent, 0):
                row.reason, row.reply = "no label", reply
            log.note(key, row)
    return log


@pytest.mark.parametrize(
    ("cause", "seen"), [(DataError("too few"), PartialRunError), (TypeError("bug"), TypeError)]
)
def test_open_calls_excuse_few_data_and_no_fault(cause: Exception, seen: type[Exception]) -> None:
    log, context = account({"a": 2}, {"a": 1}), Mock(**{"study.run.side_effect": cause})
    for row in log.unscored:
        row.settled = False
    with pytest.raises(seen, match="There is no result yet" if seen is PartialRunError else "bug"):
        run._run_study(context, Mock(log=log, until=None))


GROUPS = {
    "HTTP 500: Internal error, request id 7f3a": "HTTP 500: Internal error, request id",
    "HTTP 400: req_9f: too long": "HTTP 400",
    "refused: I cannot help with that": "refused",
    "no answer in 60 s after 6 attempts": "no answer in 60 s",
    "cut at 20 tokens": "cut at 20 tokens",
    "\x1b[2Jodd\x07": "[2Jodd",
}


def test_reasons_are_grouped_by_what_does_not_differ() -> None:
    assert {reason: stem_of(reason) for reason in GROUPS} == GROUPS


def test_many_lost_calls_are_told_before_anything_else(tmp_path: Path) -> None:
    folder, outcomes = RunDir(tmp_path), account({"a": 100, "b": 100}, {"a": 11, "b": 11})
    result = with_reasons(EMPTY, outcomes, folder, "judge")
    assert result.notes[0].startswith("11 % of calls (22 of 200) have no result: no label (22).")
    assert [one.name for one in result.tables] == ["judges", "unscored"], "its own stays first"
    assert result.summary["unscored_share"] == 0.11
    few = with_reasons(EMPTY, account({"a": 100}, {"a": 5}), folder, "judge")
    assert few.notes == ["Data."], "5 % are told by the table, not by a warning"
    assert "unscored_warning" not in few.summary and few.summary["unscored_calls"] == 5


def test_an_uneven_loss_is_told(tmp_path: Path) -> None:
    folder = RunDir(tmp_path)
    uneven = account({"a": 100, "b": 100}, {"a": 20, "b": 2})
    said = with_reasons(EMPTY, uneven, folder, "judge").notes[1]
    assert "20 % of those about a (20 of 100) and 2 % of those about b (2 of 100)" in said
    for even in ({"a": 11, "b": 9}, {"a": 2, "b": 0}, {"a": 100, "b": 100}):
        found = with_reasons(EMPTY, account({"a": 100, "b": 100}, even), folder, "judge")
        assert not any("unevenly" in note for note in found.notes), even


def test_the_record_has_whole_replies_and_the_same_bytes(tmp_path: Path) -> None:
    reply = "\x1b[31mwhy\n" + "so " * 50 + "\ud800"
    folder, twice = RunDir(tmp_path), []
    for _ in range(2):
        result = with_reasons(EMPTY, account({"a": 4}, {"a": 4}, reply), folder, "judge")
        twice.append((tmp_path / RECORD).read_bytes())
    assert twice[0] == twice[1]
    record = pd.read_parquet(tmp_path / RECORD)
    assert record["reply"][0] == reply.replace("\ud800", "\\ud800")
    example = str(result.tables[-1].rows[0]["example"])
    assert example.startswith("i0, a: “[31mwhy so so") and example.endswith("…”")
    assert len(example) < 100 and example.isprintable()
    with_reasons(EMPTY, account({"a": 4}, {}), folder, "judge")
    assert not (tmp_path / RECORD).exists(), "of an earlier execution"


def test_training_items_among_those_scored_are_counted(tmp_path: Path) -> None:
    known = record.TrainedOn("a/model", "commit", ("i0", "i2"), ())
    (tmp_path / record.TRAINED_ON).write_text(json.dumps(asdict(known)))
    lm, panel = Transformers("a/model", adapter=str(tmp_path)), panel_of([["a"], ["b"], ["c"]])
    [said] = training_of(lm, panel)
    assert said.startswith("2 of 3 items are among those")


def test_an_unread_verdict_beside_an_unsent_one_of_the_same_text_is_settled() -> None:
    """It counted as open, so a page promised that the same command would ask it again."""
    log = CallLog()
    for peer, reason, settled in (("b", "no label", True), ("c", "HTTP 500", False)):
        row = LoggedCall("study.judges.one", "chat", ("judge", "q1", "a", peer), reason, settled)
        log.note(peer.encode(), row)
    units = Units.of(["q1", "q1"], ["a", "a"], ["b", "c"])
    none = np.empty((2, 0)), (), np.empty((0, 2, 2)), np.empty((0, 2, 2), bool)
    table = JudgmentTable("preference", units, (), *none)
    missing = np.array([[True, False], [True, False]])
    unsent, why = missing_verdicts(log, table, missing, of_pairs=True)
    assert unsent.tolist() == [[False, False], [True, False]]
    assert why == {"no label": 1}
