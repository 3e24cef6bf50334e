"""The command that holds the ranking-confidence paper against public annotations."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from pytest import CaptureFixture

from experiments.ranking_confidence.rows import paper
from experiments.ranking_confidence.tables import main
from judgelab.config import resolved
from judgelab.engine.parts import build_parts
from judgelab.store.run_dir import RunDir
from tests import paper_pages

CONF = Path(__file__).resolve().parents[2] / "conf"
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def annotations(shared_data: Path) -> Path:
    if not (shared_data / "rose").is_dir() or not (shared_data / "summeval").is_dir():
        pytest.skip("no RoSE and SummEval annotations")
    return shared_data


@pytest.fixture(scope="module")
def rows(annotations: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    out = tmp_path_factory.mktemp("ranking") / "new" / "tables.json"
    assert main(["--data", str(annotations), "--out", str(out), "--draws", "1000"]) == 0
    found: Rows = json.loads(out.read_text())
    return found


def of(rows: Rows, table: str, **wanted: Any) -> Rows:
    return [r for r in rows if r["table"] == table and all(r[k] == v for k, v in wanted.items())]


def test_the_printed_figures_are_the_papers(annotations: Path) -> None:
    file = annotations / "rose" / "confidence_paper_tables2_3.json"
    for name, printed in json.loads(file.read_text()).items():
        if isinstance(printed, dict) and "rows" in printed:
            ours = paper()["rankings"][name]
            assert [[s, v[0], v[1]] for s, v in ours.items()] == printed["rows"]
            assert paper()["table1"][name] == printed["r"]
            assert sorted(v[2] for v in ours.values()) == list(range(1, len(ours) + 1))


@pytest.mark.parametrize(
    ("place", "algorithm_1", "same_texts", "without_root_2", "holds_at"),
    [
        (0, 0.883, 0.905, 0.954, 191),
        (1, 0.715, 0.717, 0.789, 220),
        (2, 0.839, 0.867, 0.919, 166),
        (3, 0.761, 0.768, 0.842, 538),
    ],
)
def test_claims(
    rows: Rows,
    place: int,
    algorithm_1: float,
    same_texts: float,
    without_root_2: float,
    holds_at: int,
) -> None:
    row = of(rows, "claims")[place]
    assert row["closed_form"] == pytest.approx(algorithm_1, abs=0.002)
    assert row["algorithm_1"] == pytest.approx(algorithm_1, abs=0.002 + 4 * row["standard_error"])
    assert row["same_texts_better_by_delta"] == pytest.approx(same_texts, abs=0.003)
    assert row["without_root_2"] == pytest.approx(without_root_2, abs=0.002)
    assert row["N_it_holds_at"] == pytest.approx(holds_at, abs=1)
    assert row["algorithm_1_matches"] is False
    assert row["without_root_2_matches"] is (place < 2)


def test_the_claims_contradict_each_other(rows: Rows) -> None:
    implied = [row["implied_sd"] for row in of(rows, "implied")]
    assert implied == pytest.approx([0.181, 0.168, 0.150, 0.107], abs=0.001)
    items = {row["r"]: row for row in of(rows, "items")}
    assert items[0.42]["delta_0.10"] == 191 and items[0.22]["delta_0.05"] == 2775
    assert items[0.6]["delta_0.02"] == pytest.approx(2331, abs=1)


def test_table_2_is_plain_acu(rows: Rows) -> None:
    found = of(rows, "table2")
    plain, printed = ([row[k] for row in found] for k in ("value", "paper"))
    assert np.corrcoef(plain, printed)[0, 1] == pytest.approx(0.82, abs=0.01)
    normalized = [row["normalized"] for row in found]
    assert np.corrcoef(normalized, printed)[0, 1] == pytest.approx(0.32, abs=0.01)
    assert max(abs(row["off_in_errors"]) for row in found) < 2
    far = max(found, key=lambda row: abs(row["off_in_errors"]))
    assert far["system"] == "BRIO-Ext" and far["value"] == pytest.approx(0.371, abs=0.001)


@pytest.mark.parametrize(
    ("name", "right", "expected"),
    [("CNNDM", 0.818, 0.675), ("SAMSum", 0.786, 0.875), ("XSum", 0.786, 0.577)],
)
def test_printed_rankings(rows: Rows, name: str, right: float, expected: float) -> None:
    """The audit counts CNNDM's two ties of rounded means as halves: .833."""
    (row,) = of(rows, "rankings", set=name, difference="all")
    assert row["ranked_right"] == pytest.approx(right, abs=0.001)
    assert row["algorithm_1"] == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(
    ("metric", "r", "paired", "unpaired", "algorithm_1", "mae"),
    [
        ("rouge1_r", 0.722, 0.741, 0.724, 0.741, 0.19),
        ("rouge1_f", 0.568, 0.643, 0.624, 0.701, 0.27),
        ("rougeL_f", 0.574, 0.529, 0.540, 0.703, 0.32),
        ("src_rouge1_r", 0.299, 0.611, 0.600, 0.616, 0.33),
        ("n_tokens", 0.228, 0.629, 0.625, 0.589, 0.40),
        ("ref_free", 0.272, 0.626, 0.625, 0.606, 0.35),
    ],
)
def test_bootstrap_on_rose(
    rows: Rows,
    metric: str,
    r: float,
    paired: float,
    unpaired: float,
    algorithm_1: float,
    mae: float,
) -> None:
    (row,) = of(rows, "judges", data="RoSE", judge=metric)
    assert row["r"] == pytest.approx(r, abs=0.001)
    assert row["paired"] == pytest.approx(paired, abs=0.02)
    assert row["unpaired"] == pytest.approx(unpaired, abs=0.02)
    assert row["algorithm_1"] == pytest.approx(algorithm_1, abs=0.002)
    assert row["mae"] == pytest.approx(mae, abs=0.02)


@pytest.mark.parametrize(
    ("low", "n", "predicted", "unpaired", "paired"),
    [
        (0.5, 580, 0.538, 0.592, 0.602),
        (0.6, 303, 0.647, 0.718, 0.729),
        (0.7, 218, 0.751, 0.776, 0.796),
        (0.8, 292, 0.851, 0.857, 0.870),
        (0.9, 195, 0.927, 0.883, 0.896),
        (0.95, 262, 0.975, 0.970, 0.977),
        (0.99, 526, 0.998, 0.976, 0.978),
    ],
)
def test_calibration_on_summeval(
    rows: Rows, low: float, n: int, predicted: float, unpaired: float, paired: float
) -> None:
    """The audit's table (2,000 resamples), within its tolerance."""
    for items, expected in (("each its own", unpaired), ("the same", paired)):
        (row,) = of(rows, "bins", group="SummEval, LM judges", items=items, **{"from": low})
        assert row["n"] == pytest.approx(n, abs=1) and row["systems"] == 12
        assert row["predicted"] == pytest.approx(predicted, abs=0.002)
        assert row["value"] == pytest.approx(expected, abs=0.02)
        assert row["low"] < row["value"] < row["high"]


def test_the_headline_in_sds(rows: Rows) -> None:
    strong, weak = of(rows, "headline", group="SummEval, LM judges")
    assert (strong["pairs"], weak["pairs"]) == (76, 41)
    for row, expected in ((strong, (0.910, 0.891, 0.885)), (weak, (0.845, 0.838, 0.730))):
        found = [row[k] for k in ("paired", "unpaired", "algorithm_1")]
        assert found == pytest.approx(expected, abs=0.01)


def test_the_bias_term_pays_for_overlap_metrics_and_not_for_lm_judges(rows: Rows) -> None:
    """What README says of it: the errors, and how often sure predictions come true."""

    def error(group: str, model: str, items: str = "each its own") -> dict[str, Any]:
        (row,) = of(rows, "errors", group=group, model=model, items=items)
        return row

    plain, bias = "Algorithm 1", "plus bias between systems"
    overlap, judges = "RoSE, overlap and length", "SummEval, LM judges"
    assert error(overlap, bias)["value"] < 0.6 * error(overlap, plain)["value"]
    assert error(overlap, bias, "the same")["change_high"] < 0
    assert error(judges, bias)["value"] > error(judges, plain)["value"]
    for group in (overlap, judges):
        for items in ("each its own", "the same"):
            before, after = error(group, plain, items), error(group, bias, items)
            assert before["sure_predicted"] - before["sure_observed"] > 0.03
            assert abs(after["sure_predicted"] - after["sure_observed"]) < 0.03


def test_disagreement_of_experts_does_not_explain_the_slope(rows: Rows) -> None:
    found = {row["dimension"]: row for row in of(rows, "experts")}
    assert found["consistency"]["reliability"] == pytest.approx(0.965, abs=0.001)
    for name in ("consistency", "fluency"):
        assert found[name]["slope_from_reliability"] < 1.2 < 1.4 < found[name]["median_slope"]


def test_other_tables_of_the_folder_take_part(
    annotations: Path, tmp_path: Path, capsys: CaptureFixture[str]
) -> None:
    (tmp_path / "rose").mkdir()
    for file in (annotations / "rose").glob("*systems*.parquet"):
        shutil.copy(file, tmp_path / "rose")
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        [(i, f"s{s}", s / 5 + generator.normal()) for i in range(30) for s in range(5)],
        columns=["item", "system", "human"],
    )
    table["mine"] = table["human"] + generator.normal(size=len(table))
    table.to_csv(tmp_path / "own.csv", index=False)
    pd.DataFrame({"other": [1]}).to_csv(tmp_path / "unrelated.csv", index=False)
    out = tmp_path / "t.json"
    assert main(["--data", str(tmp_path), "--out", str(out), "--draws", "50"]) == 0
    found = json.loads(out.read_text())
    (row,) = of(found, "judges", data="own")
    assert row["judge"] == "mine" and row["pairs"] == 10
    assert {row["group"] for row in of(found, "errors")} >= {"own"}
    assert not [row for row in found if row.get("data", "").startswith("SummEval")]
    assert "Of 4 claims Algorithm 1 gives 0" in capsys.readouterr().out


def test_own_tables_are_refused_or_left_out_aloud(
    annotations: Path, tmp_path: Path, capsys: CaptureFixture[str]
) -> None:
    (tmp_path / "rose").mkdir()
    (source,) = (annotations / "rose").glob("*systems*.parquet")
    rose = pd.read_parquet(source)
    rose.to_parquet(tmp_path / "rose" / "systems.parquet")
    command = ["--data", str(tmp_path), "--out", str(tmp_path / "t.json"), "--draws", "20"]
    own = pd.DataFrame(
        [(f"i{i}", f"s{s}", (i * s) % 7, (i + s) % 5) for i in range(9) for s in range(5)],
        columns=["item", "system", "human", "mine"],
    )
    own.rename(columns={"human": "Human"}).to_csv(tmp_path / "typo.csv", index=False)
    own[own["system"] == "s1"].to_csv(tmp_path / "alone.csv", index=False)
    own.assign(mine=1).to_csv(tmp_path / "constant.csv", index=False)
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "typo.csv is left out: it lacks columns human" in said
    assert "alone.csv, mine, is left out" in said and "constant.csv, mine, is left out" in said
    own.astype({"mine": object}).replace({"mine": {4: "four"}}).to_csv(
        tmp_path / "words.csv", index=False
    )
    assert main(command) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "'four' is no number" in said and "'mine'" in said
    (tmp_path / "words.csv").unlink()
    rose.drop(columns="normalized_acu").to_parquet(tmp_path / "rose" / "systems.parquet")
    assert main(command) == 1
    assert "has no column 'normalized_acu'" in capsys.readouterr().err


def test_every_share_has_its_interval(rows: Rows) -> None:
    for row in of(rows, "judges") + of(rows, "headline"):
        for name in ("paired", "unpaired") if row.get("systems", 12) > 2 else ():
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
    for row in of(rows, "rankings", difference="all"):
        assert row["right_low"] < row["ranked_right"] < row["right_high"]
        assert row["systems"] == (12 if row["set"] == "CNNDM" else 8)
    assert {row["unscored"] for row in of(rows, "judges", data="RoSE")} == {0}
    assert {row["unscored"] for row in of(rows, "table2")} == {0}


def test_a_folder_without_data_is_one_sentence(tmp_path: Path, capsys: CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "t.json")]) == 1
    said = capsys.readouterr().err.strip()
    assert "rose/*systems*.parquet" in said and "\n" not in said


def test_the_study_on_summeval_is_the_tables(annotations: Path, rows: Rows, tmp_path: Path) -> None:
    """A user's command line gives the judge of the table."""
    data = annotations / "summeval"
    overrides = [
        "study=ranking_confidence",
        "study.bootstrap=300",
        "study.pairs=10",
        "study.evaluations=10",
        "dataset=summeval_ratings",
        "dataset.source=path",
        "dataset.dimension=fluency",
        f"dataset.path={next(data.glob('*human*.parquet'))}",
        f"dataset.judges.path={next(data.glob('*judge*.parquet'))}",
        "mechanism=recorded_scores",
        "mechanism.metric=gpt-4-0314/rts",
    ]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        parts = build_parts(resolved(compose("config", overrides=overrides)))
    context = parts.context(run_dir=RunDir(tmp_path), seed=0, limit=None)
    summary = parts.study.run(context).summary
    (row,) = of(rows, "judges", data="SummEval fluency", judge="gpt-4-0314/rts")
    assert summary["judge/r"] == pytest.approx(row["r"])
    assert summary["judge/system_bias_sd"] / summary["judge/sd"] == pytest.approx(
        row["bias_sd_over_sd"], rel=0.01
    )
    assert summary["ranking/agreement"] == pytest.approx(row["unpaired"], abs=0.02)
    assert summary["items"] == 100 and summary["systems"] == 12


def test_docs_show_these_numbers(rows: Rows) -> None:
    shown = paper_pages.lines("ranking_confidence", "claim")
    for (_, *cells), row in zip(shown, of(rows, "claims"), strict=True):
        numbers = [(row["r"], 2), (row["delta"], 2), (row["paper"], 2), (row["closed_form"], 3)]
        r, delta, stated, ours = (paper_pages.short(*one) for one in numbers)
        assert cells == [r, f"{row['N']}", delta, stated, ours, f"{row['N_it_holds_at']:.0f}"]
