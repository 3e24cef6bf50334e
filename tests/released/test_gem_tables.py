"""The command that recomputes what can be of the GEM paper's tables, against noted figures."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from experiments.gem import printed as files
from experiments.gem.overlap import Overlap
from experiments.gem.tables import main
from judgelab.dataset.gem_released import GemReleased
from judgelab.mechanism.rouge import lcs_length
from judgelab.releases.repositories import GEM
from tests import paper_pages

Rows = Mapping[tuple[str, str, str], Mapping[str, Any]]
METRICS = ("GEM", "GEM-S (abstract)", "GEM-S (ASSW)")
WITHOUT = "18 models without DeepSeek"


@pytest.fixture(scope="session")
def data(shared_data: Path) -> Path:
    folder = shared_data / "gem"
    if GEM.layout(folder) is None:
        pytest.skip("no released reviews")
    return folder


@pytest.fixture(scope="session")
def ran(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """What the command printed and what it wrote."""
    out = tmp_path_factory.mktemp("gem") / "new" / "rows.json"
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(["--data", str(data.parent), "--out", str(out)]) == 0
    return said.getvalue(), json.loads(out.read_text())


@pytest.fixture(scope="session")
def rows(ran: tuple[str, list[dict[str, Any]]]) -> Rows:
    return {(row["table"], row["row"], row["column"]): row for row in ran[1]}


@pytest.fixture(scope="session")
def raw(data: Path) -> dict[str, Any]:
    file = data / "paper_tables.json"
    if not file.is_file():
        pytest.skip("no other copy of the printed tables")
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def test_the_printed_figures_are_those_of_another_copy(raw: dict[str, Any]) -> None:
    """printed/ was made once from a reading of the paper; every figure of it is there."""
    ours = files.read_printed()
    for number in ("3", "4", "8", "9", "11", "12", "13", "14"):
        assert ours.raw[f"table{number}"] == {
            metric: {name: [cell["smd"], cell["lo"], cell["hi"]] for name, cell in row.items()}
            for metric, row in raw[f"table{number}"].items()
        }
    assert ours.raw["table1"] == raw["table1_spearman_instructor_grade"]
    assert ours.table5 == raw["table5_spearman_vs_benchmarks"]
    for key, board in raw.items():
        if "_gre_bench_" in key:
            number = key.split("_")[0].removeprefix("table")
            assert ours.raw[f"table{number}"] == {
                m: [cells[c] for c in ours.raw["board_columns"]] for m, cells in board.items()
            }
    for column in raw["GRE-bench.xlsx"][0]:
        for shipped, other in zip(ours.rows, raw["GRE-bench.xlsx"], strict=True):
            value = shipped[column]
            assert value == other[column] or float(value) == other[column]


def test_table5_is_pearson(rows: Rows, raw: dict[str, Any]) -> None:
    cells = [row for key, row in rows.items() if key[0] == "5"]
    assert len(cells) == 21
    assert sum(row["match"] for row in cells) == 21
    assert sum(round(row["corrected"], 2) == row["paper"] for row in cells) == 1
    for metric, noted in raw["table5_recomputed_here"].items():
        for benchmark, figures in noted.items():
            row = rows["5", metric, benchmark]
            assert round(row["released"], 3) == figures["pearson"]
            assert round(row["corrected"], 3) == pytest.approx(figures["spearman"], abs=0.00051)
            assert row["n"] == figures["n"] and row["n"] + row["unscored"] == 18
            assert row["corrected_low"] < row["corrected"] < row["corrected_high"]


def test_table5_against_scipy(rows: Rows, raw: dict[str, Any]) -> None:
    """Names joined here by hand, another way than the experiment does."""
    board = raw["table6_gre_bench_llama3.1-70B_evalLM_gpt4o_preproc"]
    ours = {name.split()[0]: cells["GEM-S(ASSW)"] for name, cells in board.items()}
    ours["openai/gpt-3.5-turbo-0125"] = ours.pop("openai/gpt-3.5-turbo")
    known = [row for row in raw["GRE-bench.xlsx"] if row["GSM8K"] is not None]
    x, y = [ours[row["model_name"]] for row in known], [row["GSM8K"] for row in known]
    row = rows["5", "GEM-S (ASSW)", "GSM8K"]
    assert (row["released"], row["released_p"]) == pytest.approx(tuple(stats.pearsonr(x, y)))
    assert (row["corrected"], row["corrected_p"]) == pytest.approx(tuple(stats.spearmanr(x, y)))


def test_consistency_is_pearson_without_deepseek(rows: Rows) -> None:
    noted = {
        ("A.2", WITHOUT): ((0.931, 0.915, 0.899), None),
        ("A.2", "all 20 models"): (None, (0.926, 0.904, 0.893)),
        ("A.3", WITHOUT): ((0.889, 0.845, 0.826), (0.835, 0.876, 0.882)),
    }
    for (section, models), (pearson, spearman) in noted.items():
        for position, metric in enumerate(METRICS):
            row = rows[section, metric, models]
            assert row["match"] is (models == WITHOUT)
            if pearson is not None:
                assert round(row["released"], 3) == pearson[position]
            if spearman is not None:
                assert round(row["corrected"], 3) == pytest.approx(spearman[position], abs=0.00051)
    assert ("A.3", "GEM", "all 20 models") not in rows, "Table 10 has 18 models"


def test_size_trend(rows: Rows) -> None:
    noted = {"6": (0.55, 0.51, 0.59), "7": (0.67, 0.63, 0.64)}
    for table, values in noted.items():
        for metric, value in zip(METRICS, values, strict=True):
            row = rows["6/7", metric, f"Table {table}, parameters"]
            assert (round(row["corrected"], 2), row["n"]) == (value, 20)
            assert row["corrected_low"] > 0


def test_table7_is_the_spreadsheet_but_for_one_cell(rows: Rows) -> None:
    cells = {key[1:]: row for key, row in rows.items() if key[0] == "7"}
    assert len(cells) == 36
    assert [key for key, row in cells.items() if not row["match"]] == [
        ("mistralai/mistral-large", "GEM-S (abstract)")
    ]


def test_table1_has_165_rows(ran: tuple[str, list[dict[str, Any]]], rows: Rows) -> None:
    assert "All cells agree on n = 165 to 165." in ran[0]
    assert rows["1", "GEM", "n behind p"]["released"] == 165


@pytest.mark.parametrize(
    ("metric", "d", "half", "unpaired", "averaged", "clustered"),
    [
        ("ROUGE-L", -0.087, 0.0482, 0.113, 0.080, 0.065),
        ("BLEU", -0.32, 0.0621, 0.113, 0.105, 0.088),
    ],
)
def test_sentence_deletion(
    rows: Rows,
    metric: str,
    d: float,
    half: float,
    unpaired: float,
    averaged: float,
    clustered: float,
) -> None:
    """Noted with tokens of another tokenizer, so BLEU only nearly."""
    row = rows["3", metric, "Sentence Deletion"]
    assert row["released"] == pytest.approx(d, abs=0.0006 if metric == "ROUGE-L" else 0.03)
    assert row["corrected"] == row["released"] and row["match"] is False
    assert row["released_ci"] == pytest.approx(half, rel=0.02)
    assert row["paper_ci"] == pytest.approx(row["released_ci"], rel=0.03)
    assert (row["corrected_high"] - row["corrected_low"]) / 2 == pytest.approx(clustered, rel=0.02)
    assert (row["n"], row["unscored"]) == (600, 0) and row["corrected_p"] < 0.05
    multiple = {
        name: rows["3", metric, f"half width / SE of {name}"]["released"]
        for name in ("paired rows", "independent samples", "paired means over references")
    }
    assert multiple["paired rows"] == pytest.approx(1.645, abs=0.06)
    printed = row["paper_ci"]
    assert 1.96 * printed / multiple["independent samples"] == pytest.approx(unpaired, abs=0.001)
    averaged_half = 1.96 * printed / multiple["paired means over references"]
    assert averaged_half == pytest.approx(averaged, rel=0.03)


def test_the_papers_own_wording_of_the_deletion(rows: Rows) -> None:
    for metric in ("ROUGE-L", "BLEU"):
        as_coded, as_worded = (
            rows["3", metric, f"Sentence Deletion{how}"]["corrected"]
            for how in ("", " (the paper's wording)")
        )
        assert as_worded != as_coded and as_worded == pytest.approx(as_coded, abs=0.05)


def test_gem_raw_of_table3_is_copied_from_table4(rows: Rows) -> None:
    copied = [row for key, row in rows.items() if key[0] == "3=4"]
    assert [row["paper"] for row in copied] == [-0.123, -0.126, 0.02]
    assert all(row["match"] and row["paper_ci"] == row["released_ci"] for row in copied)


def test_gem_raw_contradicts_bartscore_recall(rows: Rows) -> None:
    ratio = {key[1]: row["released"] for key, row in rows.items() if key[2] == "ratio"}
    noted = {
        "Table 4, GPT-4o Rephrase": 4.56,
        "Table 4, Llama3.1 Rephrase": 4.5,
        "Table 4, Meaningless Elongation": 5.0,
        "Table 3, Sentence Deletion": 7.24,
        "Table 3, Deletion & Completion": 7.88,
        "Table 3, Abstract-only Review": 5.0,
    }
    assert {name: round(value, 2) for name, value in ratio.items()} == noted
    implied = [row for key, row in rows.items() if key[2] == "d of GEM-raw"]
    assert [round(row["corrected"], 3) for row in implied] == [-0.077, -0.072, 0.018]
    outside = [not r["corrected_low"] <= r["paper"] <= r["corrected_high"] for r in implied]
    assert outside == [True, True, False]


def test_printed_intervals_are_symmetric(rows: Rows) -> None:
    off = [row for key, row in rows.items() if key[0] == "+-"]
    assert sum(row["n"] for row in off) == 30 + 30 + 6 + 6 + 27 + 18 + 15 + 15
    assert all(row["released"] <= 0.001 + 1e-9 for row in off)


def test_significance_that_a_95_percent_interval_over_papers_leaves(
    ran: tuple[str, list[dict[str, Any]]], rows: Rows
) -> None:
    wide = {key[1:]: row for key, row in rows.items() if key[0] == "3/8"}
    kept = {key for key, row in wide.items() if row["corrected_high"] < 0}
    assert len(wide) == 12
    assert set(wide) - kept == {("Table 8, GEM (Llama Preprocessing)", "Abstract-only Review")}
    smallest = wide["Table 3, GEM", "Abstract-only Review"]
    assert smallest["corrected"] is None, "the printed d is not computed anew"
    assert (smallest["corrected_high"] - smallest["paper"]) == pytest.approx(0.098, abs=0.002)


def test_gem_is_not_alone_in_resisting(rows: Rows) -> None:
    firm = [key[1] for key, row in rows.items() if key[0] == "4" and row["released"] == 0]
    assert firm == ["BLEU", "GEM", "GEM-S"]


def test_the_json_has_the_shape_of_the_other_tables(
    ran: tuple[str, list[dict[str, Any]]], rows: Rows
) -> None:
    said, listed = ran
    numbers = {"paper", "released", "corrected", "n", "unscored", "paper_ci", "corrected_low"}
    for row in listed:
        assert all(row[k] is None or type(row[k]) in (int, float) for k in numbers)
        assert row["match"] in (True, False, None)
    assert len(rows) == len(listed)
    comparable = [row["match"] for row in listed if row["match"] is not None]
    assert f"{sum(comparable)} of {len(comparable)} comparable cells" in said


def test_a_clone_gives_the_same_rows(
    clones: Path, rows: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    assert main(["--data", str(clones / GEM.name), "--out", str(out)]) == 0
    capsys.readouterr()
    for row in json.loads(out.read_text()):
        other = rows[row["table"], row["row"], row["column"]]
        assert {k: pytest.approx(v, abs=1e-9) for k, v in row.items() if k != "match"} == {
            k: v for k, v in other.items() if k != "match"
        }
        assert row["match"] is other["match"]


@pytest.mark.parametrize("what", ["nothing", "no spreadsheet"])
def test_wrong_data_is_one_sentence(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if what == "no spreadsheet":
        (tmp_path / files.SHEET).write_text("<html>")
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "rows.json")]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and str(tmp_path) in said.err
    assert not (tmp_path / "rows.json").exists()


WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(WORDS, WORDS)
def test_lcs_against_its_table(x: list[str], y: list[str]) -> None:
    table = np.zeros((len(x) + 1, len(y) + 1), dtype=int)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            longer = max(table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else longer
    assert lcs_length(x, y) == table[-1, -1]


def test_overlap_is_rouge_scores_and_sacrebleus(data: Path) -> None:
    panel = GemReleased(str(data)).load(8)
    overlap = Overlap()
    rouge = RougeScorer(["rougeL"], use_stemmer=True)
    bleu = BLEU(smooth_method="none")
    for number, (first, second, third) in enumerate(panel.texts):
        assert first is not None and second is not None and third is not None
        expected = bleu.corpus_score([second], [[first]]).score / 100
        assert overlap.bleu(second, first) == pytest.approx(expected, abs=1e-12)
        if number < 2:
            third, second = third[:900], second[:900]  # its table takes its time
            expected = rouge.score(third, second)["rougeL"].fmeasure
            assert overlap.rouge_l(second, third) == pytest.approx(expected)
    assert overlap.bleu("two words", "two words") == 0.0
    assert overlap.rouge_l("one", "other") == 0.0
    short, long = "a b c d e", "a b c d e f g"
    assert overlap.bleu(short, long) == pytest.approx(math.exp(1 - 7 / 5))


def test_docs_show_these_numbers(rows: Rows) -> None:
    shown = paper_pages.lines("gem", "table")
    assert len(shown) == 3
    for name, printed, corrected, n in shown:
        row = dict(rows["5", "GEM", name.partition(" and ")[2].partition(",")[0]])
        assert (printed, corrected) == (paper_pages.short(row["paper"]), paper_pages.interval(row))
        assert n == f"{row['n']} models"
