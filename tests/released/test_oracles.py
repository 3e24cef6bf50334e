"""Formulas of the experiments against other ways to them, and their tables on data of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rouge_score.rouge_scorer import RougeScorer

from experiments.auto_pre import counting
from experiments.auto_pre.bench import Bench
from experiments.auto_pre.printed import numbers
from experiments.auto_pre.release import list_datasets, read_dataset
from experiments.auto_pre.tables import compute
from experiments.peer_prediction.baseline import rouge1
from experiments.peer_prediction.release import read_domain
from experiments.ranking_confidence.data import summeval_table
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.engine.context import Context, build_parts
from judgelab.store.run_dir import RunDir


@pytest.fixture(scope="module")
def auto_pre(shared_data: Path) -> Path:
    if not (shared_data / "auto_pre").is_dir():
        pytest.skip("no release of Auto-PRE at hand")
    return shared_data / "auto_pre"


def test_standard_rouge1_is_rouge_scores(shared_data: Path) -> None:
    panel = read_domain(shared_data / "peer_prediction", "samsum").panel(4)
    scorer = RougeScorer(["rouge1"])
    expected = [
        [scorer.score(item.reference, text)["rouge1"].fmeasure for text in row]
        for item, row in zip(panel.items, panel.texts, strict=True)
    ]
    np.testing.assert_allclose(rouge1(panel), expected)


def test_a_tie_is_a_win_only_where_rounding_says_so() -> None:
    truth = np.array([[1.0, -1.0]])
    split = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    fair = counting.released_vote([split] * 2, [0.5, 0.25], truth)
    assert fair.tolist() == [[0.5, 0.5]]
    weights = [0.7536101083032491, 0.7093862815884476, 0.8032490974729242, 0.8357400722021661]
    assert counting.released_vote([split] * 4, weights, truth).tolist() == [[1.0, 1.0]]
    pairs = np.array([[0, 1]])
    again = counting.corrected_credit([split] * 4, weights, truth, pairs)
    assert again.tolist() == [[0.5, 0.5]]


def cell(tables, number, row, column):  # type: ignore[no-untyped-def]
    [found] = [r for r in tables[number].rows if (r.row, r.column) == (row, column)]
    return found


def test_other_datasets_of_the_layout_are_counted_too(auto_pre: Path, tmp_path: Path) -> None:
    """A dataset under the paper's third name, with grades that are no numbers, and a new one
    without exams."""
    for file in auto_pre.glob("*.parquet"):
        frame = pd.read_parquet(file)
        if "dataset" in frame:
            frame = frame[(frame["dataset"].astype(str) == "XSum") & (frame["task_id"] < 20)]
        made = []
        for name in ("NF_CATS", "Stories") if "dataset" in frame else ():
            part = frame.astype({"dataset": str}).assign(dataset=name)
            if file.stem == "score_pointwise":
                part.loc[part.index[::50], "score"] = -1.0
            if name == "Stories" and file.stem.startswith("exam_"):
                part = part.iloc[:0]
            made.append(part)
            if file.stem == "exam_pertinence" and name == "NF_CATS":
                made.append(part.assign(L1_RA="gpt4"))
        if made:
            pd.concat(made).to_parquet(tmp_path / file.name)
    assert set(list_datasets(tmp_path)) == {"NF_CATS", "Stories"}
    assert (read_dataset(tmp_path, "Stories").grades["5-level"]["gpt-4"] >= 0).sum() < 140
    made_of = {table.number: table for table in compute(tmp_path)}
    known = cell(made_of, "3", "Auto-PRE", "NF_CATS/pairwise")
    assert known.paper == 0.7821 and known.released is not None and known.stated is not None
    new = cell(made_of, "3", "Auto-PRE", "Stories/pairwise")
    assert new.paper is None and new.released is None and new.stated is not None
    # no P and no S: everybody passes these, whoever passes C is in, and the tables say so
    stated = Bench(read_dataset(tmp_path, "Stories")).stated
    pool = stated("Auto-PRE", "pairwise")
    assert pool is not None and numbers(pool.judges) == "4567"
    assert all(0.75 < weight < 1 for weight in pool.weight)  # of P_c and a passed P_s
    for number in ("3", "6"):
        said = [note for note in made_of[number].notes if note.startswith("Stories: P_")]
        assert len(said) == 2 and all(note.endswith("taken to have passed.") for note in said)
        assert not [note for note in made_of[number].notes if note.startswith("NF_CATS: P_")]
    assert cell(made_of, "5", "gpt-4", "NF_CATS/accuracy").released is not None


def test_the_study_on_summeval_is_the_tables(shared_data: Path, tmp_path: Path) -> None:
    """A user's command line gives the judge of the table."""
    file = tmp_path / "fluency.parquet"
    summeval_table(shared_data, "fluency").to_parquet(file)
    overrides = [
        "study=ranking_confidence",
        "study.bootstrap=300",
        "study.pairs=10",
        "study.evaluations=10",
        "dataset=table",
        f"dataset.path={file}",
        "dataset.kind=grade",
        "dataset.judges=[gpt-4-0314/rts]",
        "mechanism=recorded_scores",
        "mechanism.metric=gpt-4-0314/rts",
    ]
    parts = build_parts(resolved(composed(overrides)))
    context = Context.of(parts, run_dir=RunDir(tmp_path), seed=0, limit=None)
    summary = parts.study.run(context).summary
    golden = (Path(__file__).with_name("golden") / "ranking_confidence.jsonl").read_text()
    rows = [json.loads(line) for line in golden.splitlines()]
    wanted = {"table": "judges", "data": "SummEval fluency", "judge": "gpt-4-0314/rts"}
    (row,) = [one for one in rows if wanted.items() <= one.items()]
    assert summary["judge/r"] == pytest.approx(row["r"], rel=1e-5)
    assert summary["judge/system_bias_sd"] / summary["judge/sd"] == pytest.approx(
        row["bias_sd_over_sd"], rel=0.01
    )
    assert summary["ranking/agreement"] == pytest.approx(row["unpaired"], abs=0.02)
    assert summary["items"] == 100 and summary["systems"] == 12
