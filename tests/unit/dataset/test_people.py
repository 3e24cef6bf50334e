"""People's labels in a file of their own, joined with what judges said."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.dataset.table import LabelledTable
from judgelab.study.common.panels import judgment_records

JUDGED = "id,verdict\n" + "".join(f"q{k},{'pass' if k % 3 else 'fail'}\n" for k in range(12))
LABELS = "id,label\n" + "".join(f"q{k},{'pass' if k % 2 else 'fail'}\n" for k in range(12))
AGENTS = "id,model,verdict\nq1,a,pass\nq1,b,fail\nq2,a,fail\n"


def joined(folder: Path, judged: str, labels: str) -> Panel:
    own, people = folder / "judged.csv", folder / "labels.csv"
    own.write_text(judged)
    people.write_text(labels)
    return LabelledTable(path=str(own), people=str(people)).load()


def cells(panel: Panel) -> pd.DataFrame:
    assert panel.judgments is not None
    rows = judgment_records(panel.judgments)[["item", "first", "role", "by", "category"]]
    return rows.sort_values(list(rows.columns)).reset_index(drop=True)


def test_one_file_and_two_say_the_same_in_any_order_of_rows(tmp_path: Path) -> None:
    whole = pd.read_csv(StringIO(JUDGED)).merge(pd.read_csv(StringIO(LABELS)), on="id")
    whole.to_csv(tmp_path / "whole.csv", index=False)
    alone = cells(LabelledTable(path=str(tmp_path / "whole.csv")).load())
    head, *rows = LABELS.splitlines()
    for order in (rows, rows[::-1], list(np.random.default_rng(0).permutation(rows))):
        labels = "\n".join([head, *order, "unknown,pass"])
        panel = joined(tmp_path, JUDGED, labels)
        pd.testing.assert_frame_equal(cells(panel), alone)
        assert "1 rows of items that are not judged" in str(panel.provenance["columns_taken"])
    labels_called_pass = LABELS.replace("label", "pass")  # which verdicts of judges may be, too
    pd.testing.assert_frame_equal(cells(joined(tmp_path, JUDGED, labels_called_pass)), alone)
    other_ids = [text.replace("id,", "ticket_id,") for text in (JUDGED, LABELS)]
    pd.testing.assert_frame_equal(cells(joined(tmp_path, *other_ids)), alone)


def test_a_label_says_whose_text_it_is_about_where_there_are_several(tmp_path: Path) -> None:
    panel = joined(tmp_path, AGENTS, "id,agent,label\nq1,b,fail\nq1,a,pass\n")
    said = cells(panel).query("role == 'rater'")[["first", "category"]]
    assert said.values.tolist() == [["a", "pass"], ["b", "fail"]]
    assert cells(joined(tmp_path, AGENTS, "id,label\nq2,fail\n")).role.value_counts()["rater"] == 1


@pytest.mark.parametrize(
    ("labels", "fault"),
    [
        ("id,label\nq1,pass\n", "line 2: item 'q1' has texts of a and b: say whose"),
        ("id,agent,label\nq1,c,pass\n", "line 2: item 'q1' has texts of a and b: none is of c"),
        ("id,label\nx1,pass\n", "labels no item of"),
        (
            "ticket_id,label\nq2,fail\nq2,fail\n",
            "'labels.csv', line 3: people labels item 'q2' once more than",
        ),
        ("row_id,ticket_id,label\n1,q2,fail\n2,q2,fail\n", "does not say which item a label"),
        ("id,first,second\nq1,pass,fail\nq2,fail,pass\n", "may each hold labels"),
    ],
)
def test_labels_that_fit_nothing_are_refused(labels: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=fault):
        joined(tmp_path, AGENTS, labels)


def test_rows_without_ids_are_not_joined(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column of ids by which labels could be joined"):
        joined(tmp_path, "question,verdict\nWhy?,pass\nWho?,fail\nWhy?,pass\n", LABELS)


def test_a_column_of_labels_is_no_judge(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text(LABELS)
    with pytest.raises(DataError, match="label cannot hold people's labels and a judge's"):
        LabelledTable(path=str(file), columns={"human": "label"}, judges=["label"]).load()
