"""The authors' repository of Auto-PRE, read as it is: what each file means, and its traps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from experiments.auto_pre.release import confidence, pertinence, read_dataset, read_table
from experiments.auto_pre.release.judges import preferred
from experiments.auto_pre.tables import main
from experiments.command import UNKNOWN, Row, point
from experiments.importing import import_release
from experiments.repositories import AUTO_PRE
from judgelab.core.errors import DataError
from judgelab.dataset.table import LabelledTable
from tests.tiny_auto_pre_clone import BEST, NF, quality, write_clone


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clone(tmp_path_factory.mktemp("clone"))


@pytest.fixture
def own(clone: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return shutil.copytree(clone, tmp_path / "own")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [("one", 1), ("Two", -1), ("two, not one", -1), ("mentioned; two", 1), ("tie", 0), ("nan", 0)],
)
def test_the_label_that_stands_first_counts_wherever_it_stands(reply: str, verdict: int) -> None:
    assert preferred(reply) == verdict


def test_verdicts_stand_pair_by_pair_in_both_orders(clone: Path) -> None:
    data = read_dataset(clone, "XSum")
    assert data.agents == ("chatgpt", "claude", "ChatGLM2-6B", "fastchat-t5-3b", *data.agents[4:])
    assert set(data.verdict) == {"gpt-4", "gpt-3.5-turbo"}  # a file that was broken off is not read
    better = np.array([[BEST.index(a) < BEST.index(b) for b in data.agents] for a in data.agents])
    np.fill_diagonal(better, False)
    found = np.nan_to_num(data.verdict["gpt-4"])
    np.testing.assert_array_equal(found[3:], np.broadcast_to(better, (97, 7, 7)))
    first, second = (data.agents.index(name) for name in ("ChatGLM2-6B", "alpaca-7b"))
    assert data.verdict["gpt-4"][:4, first, second].tolist() == [0.5, 1.0, 0.5, 1.0]
    # read as whole words: nothing, "two", a tie
    np.testing.assert_array_equal(data.readable["gpt-4"][:3, first, second], [np.nan, 0.0, 0.5])
    assert (data.verdict["gpt-3.5-turbo"][:, first, second] == 1).all()


def test_people_decide_ties_by_preferences_beyond_five(clone: Path) -> None:
    data = read_dataset(clone, "XSum")
    assert data.human[0].tolist() == [quality(model) for model in data.agents]
    chatgpt, claude = data.agents.index("chatgpt"), data.agents.index("claude")
    assert data.gold[:3, chatgpt, claude].tolist() == [-1.0, 0.0, 0.0]
    assert read_dataset(clone, "NF_CATS").gold[0, chatgpt, claude] == 1
    assert (data.gold[:, chatgpt, data.agents.index("alpaca-7b")] == 1).all()


def test_quotation_marks_swallow_no_rows(clone: Path) -> None:
    answers = read_table(clone, "answers")
    assert len(answers[answers["dataset"] == "XSum"]) == 7 * 200
    items = read_table(clone, "items")
    third = items[(items["dataset"] == "XSum") & (items["task_id"] == 3)].iloc[0]
    assert third["source"] == 'An article "3\nthat goes on'
    assert third["reference"] == "Its summary 3."


def test_grades_are_the_first_whole_number_and_none_is_marked(clone: Path) -> None:
    data = read_dataset(clone, "NF_CATS")
    alpaca = data.agents.index("alpaca-7b")
    grades = data.grades["5-level"]["gpt-4"][:, alpaca]
    assert np.isnan(grades[0]) and grades[1:].tolist() == [4.0, *[2.0] * 98]
    assert read_dataset(clone, "XSum").grades["5-level"]["gpt-4"][7].tolist() == [
        quality(model) for model in data.agents
    ]


def test_logs_of_dialogues(clone: Path, own: Path) -> None:
    data = read_dataset(clone, "DailyDialog")
    assert data.agents == tuple(f"ans{k}" for k in range(7))
    assert data.human[4].tolist() == [5, 4, 4, 3, 2, 2, 1]
    assert data.gold[9, 0].tolist()[1:] == [1.0] * 6 and data.gold[9, 1, 2] == 0
    [judge] = data.verdict  # named by the first line of the log of another name
    assert judge == "gpt-3.5-turbo"
    assert data.verdict[judge][0, [1, 0, 2], [0, 1, 0]].tolist() == [0.0, 1.0, 1.0]
    assert data.grades["5-level"]["gpt-4"][0].tolist() == [1, 2, 3, 4, 5, 4, 3]
    log = own / "quick_reproduce/dialog_output/output_dialog_pairwise_chatgpt.txt"
    log.write_text(log.read_text().replace("human_scores is [-1, 1", "human_scores is [1, -1", 1))
    with pytest.raises(DataError, match="preferences are not those of their grades"):
        read_dataset(own, "DailyDialog")


def test_exams_by_folder_and_name(clone: Path) -> None:
    xsum, other = read_dataset(clone, "XSum"), read_dataset(clone, "NF_CATS")
    won = pertinence(xsum, "gpt-4", "ChatGLM2-6B", "gpt-3.5-turbo", 1)
    assert (won == 1).all()  # read anew: "Two." of an answer shown second
    asked = other.pertinence.groupby(["L1_RA", "L2_IA", "prompt", "evaluator"]).size()
    assert asked.to_dict() == {
        ("gpt4", "fastchat-t5-3b", 2, "fastchat-t5-3b"): 200,
        ("gpt4", "fastchat-t5-3b", 2, "gpt-3.5-turbo"): 200,
    }
    sure = confidence(other, "gpt-3.5-turbo")
    assert sure is not None and sure[2] == "prob, prompt1"
    assert np.isnan(sure[0][0, 0]) and sure[0][1, 0] == pytest.approx(np.log(0.9))
    words = confidence(xsum, "gpt-4")
    assert words is not None and words[2] == "direct, null"
    np.testing.assert_array_equal(words[0][:2], [[4, np.nan]] * 2)


def test_a_clone_becomes_a_table_that_an_audit_and_pools_read(clone: Path, tmp_path: Path) -> None:
    """People's preferences, grades and both orders of every judge, as they were."""
    [file] = [f for f in import_release(AUTO_PRE, clone, tmp_path) if f.stem == "XSum"]
    panel, data = LabelledTable(path=str(file)).load(), read_dataset(clone, "XSum")
    table = panel.judgments
    assert table is not None and table.kind == "preference"
    assert {judge.name for judge in table.judges} == set(data.readable)
    by_unit = zip(table.units.item, table.units.first, table.units.second, strict=True)
    k = [judge.name for judge in table.judges].index("gpt-4")
    for number, (item, first, second) in enumerate(by_unit):
        t, a, b = int(item), data.agents.index(first), data.agents.index(second)
        wanted = [data.readable["gpt-4"][t, a, b], 1 - data.readable["gpt-4"][t, b, a]]
        np.testing.assert_array_equal(table.verdicts[k, number], wanted)
        assert table.labels[number, 0] == (data.gold[t, a, b] + 1) / 2
    assert panel.items[0].human == dict(zip(data.agents, data.human[0], strict=True))


@pytest.mark.parametrize(
    ("value", "match"),
    [(0.68098, False), (0.68094, True), (0.68085, True), (0.68084, False), (0.68095, True)],
)
def test_a_cell_matches_where_it_rounds_to_the_printed_digits(value: float, match: bool) -> None:
    """Cut digits are no match; a number half-way rounds to either."""
    assert Row("3", "x", "y", 0.6809, point(value, 1)).match is match


def test_tables_need_only_a_clone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With other numbers than the authors', and without most of their judges."""
    clone, out = write_clone(tmp_path / "Auto-PRE"), tmp_path / "rows.json"
    lines = (clone / NF / "x_pointwise_5level_processed_gpt4.json").read_text().split("\n")
    lines[:100] = ["nan"] * 100  # gpt-4 graded none of the first model's answers
    (clone / NF / "x_pointwise_5level_processed_gpt4.json").write_text("\n".join(lines))
    assert main(["--data", str(tmp_path), "--out", str(out)]) == 0
    rows = {(r["table"], r["row"], r["column"]): r for r in json.loads(out.read_text())}
    single = rows["3", "gpt-4", "XSum/pairwise"]
    assert single["paper"] == 0.7369 and single["match"] is False and single["cause"] == UNKNOWN
    assert single["released"] > 0.99
    graded = rows["3", "gpt-4", "NF_CATS/5-level"]
    # of 19 pairs that people decide on most items six are with that model
    assert graded["corrected_unscored"] >= 500 and graded["released_unscored"] == 0
    assert graded["corrected_n"] + graded["corrected_unscored"] == graded["released_n"]
    assert rows["3", "PandaLM", "XSum/pairwise"]["released"] is None
    said = capsys.readouterr().out
    assert "1 not: Table 3, gpt-4, XSum/pairwise: no cause is known." in said
    assert main(["--data", str(tmp_path / "nowhere"), "--out", str(out)]) == 1
    assert "github.com/cjj826/Auto-PRE" in capsys.readouterr().err
