"""Methods beside the pools: accuracy against cost, to a sweep's end."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import judgelab
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Item, Panel, folds
from judgelab.exam.protocol import Answers
from judgelab.report.jobs import comparisons, jobs
from judgelab.report.sweep import write
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.qualification.exams import ConfidenceAnswers, mark, shares
from judgelab.study.qualification.pools import answer_scores, exam_pool, human_pool, pre_pool
from judgelab.study.qualification.responses import ExamResult, JudgeResponses
from tests.drawings import draw
from tests.e2e.conftest import inside, only_run
from tests.unit.python.frames import graded
from tests.unit.report.report_results import write_job

METHODS = "study.methods={both: [first, second], debate: [chatEval], free: [gratis]}"


AGENTS, ITEMS = ("good", "fair", "poor"), range(8)
JUDGES = ("first", "second", "chatEval", "gratis")


def judged() -> pd.DataFrame:
    """People and judges prefer whom ``AGENTS`` names earlier.

    On one item the second judge takes what is shown first; a debate decides against people.
    """
    rows: list[dict[str, Any]] = [
        {"id": t, "source": "Tell a story.", "agent": name, "text": f"{name} {t}", "human": 5 - k}
        for t, (k, name) in product(ITEMS, enumerate(AGENTS))
    ]
    for t, (better, worse) in product(ITEMS, combinations(AGENTS, 2)):
        pair = {"id": t, "agent": better, "other": worse}
        rows.append(pair | {"preference": better})
        for judge, order in product(JUDGES, (0, 1)):
            taken = (better, worse)[order if judge == "second" and t == 0 else judge == "chatEval"]
            rows.append(pair | {"judge": judge, "order": order, "verdict": taken})
    return pd.DataFrame(rows)


def result(root: Path, *more: str) -> Path:
    """The folder of the run."""
    (root / "Stories").mkdir()
    judged().to_parquet(root / "Stories" / "judged.parquet")
    (root / "prices.yaml").write_text(
        "{currency: USD, tokens_per_call: 1000, judges: {first: 1000, second: 100, chatEval: 2000}}"
    )
    chosen = ["study=qualification", "dataset=table", "mechanism=recorded_scores"]
    chosen += [f"dataset.path={root / 'Stories' / 'judged.parquet'}", "tracker=none"]
    chosen += [f"study.prices={root / 'prices.yaml'}", "study.bootstrap=50"]
    inside(root, [*chosen, *more])
    return only_run(root)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    more = (METHODS, "study.pertinence=null", "study.recorded=[first,second]")
    return result(tmp_path_factory.mktemp("run"), "study.annotation_cost=7", *more)


def pools(run: Path) -> dict[str, dict[str, Any]]:
    tables = json.loads((run / "result.json").read_text())["tables"]
    rows = next(table["rows"] for table in tables if table["name"] == "pools")
    return {row["name"]: row for row in rows}


def test_a_debate_is_a_method_with_its_own_number_and_no_judge_of_a_pool(run: Path) -> None:
    rows = pools(run)
    assert rows["debate"]["kind"] == "method" and rows["debate"]["value"] == 0.0
    assert rows["debate"]["gain"] == rows["C"]["value"] and rows["debate"]["p"] < 0.1
    assert rows["both"]["value"] == rows["C"]["value"] and rows["both"]["gain"] == 0
    assert rows["all"]["judges"] == 2 and "chatEval" not in rows and rows["C"]["gain"] is None
    called = {name: row["called"] for name, row in rows.items() if row["called"]}
    assert called == {
        "all": "PRE (w/o Filter)",
        "PRE": "PRE (Auto-Exam)",
        "human": "PRE (Human Filter)",
        "C": "Auto-PRE",
    }


def test_exams_cost_what_all_candidates_were_asked_beyond_the_members_verdicts(run: Path) -> None:
    """48 verdicts each at 1 and .1; only the first is consistent enough. P_c takes no further
    question, but those of the judge that failed it."""
    rows = pools(run)
    assert rows["C"]["judges"] == 1 and rows["all"]["exam_cost"] == 0
    assert rows["C"]["exam_cost"] == pytest.approx(4.8)
    assert rows["C"]["cost"] == pytest.approx(48 + 4.8)
    assert rows["PRE"]["cost"] == pytest.approx(52.8) and rows["PRE"]["judges"] == 2
    assert rows["human"]["cost"] == pytest.approx(52.8 + 7)
    assert rows["debate"]["cost"] == pytest.approx(96) and rows["free"]["cost"] is None


def test_a_sweep_ends_in_accuracy_against_cost(run: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "s" / "t"
    write_job(sweep, 0, {}, status="done", run=str(run))
    write(sweep)
    [section] = [one for one in comparisons(jobs(sweep)) if one.name == "pools"]
    assert list(section.figures) == ["qualification_cost"]
    names = list(section.rows["name"])
    assert {"both", "debate", "all", "PRE", "human", "C", "first"} <= set(names)
    assert names[-1] == "debate"  # parts of the exams; the best on top
    drawn = draw("qualification_cost", {"pools": section.rows})
    words = {text.get_text() for text in drawn.figure.axes[0].texts}
    assert {"debate", "PRE (Human Filter)", "second"} <= words
    assert any("Auto-PRE" in one for one in words)
    assert "Not drawn, as their cost is unknown: free." in drawn.caption and "free" not in words
    assert "USD" in drawn.figure.axes[0].get_xlabel()
    assert (sweep / "figures" / "qualification_cost.png").is_file()
    assert "Accuracy against cost" in (sweep / "report.html").read_text()


SMALL = {"evaluation_lm": "compression", "evaluation_lm.order": 3, "mechanism": "gptscore"}
LARGE = {"evaluation_lm": "compression", "mechanism": "gptscore"}
CHAT = {
    "evaluation_lm": "openai",
    "evaluation_lm.model": "m",
    "evaluation_lm.base_url": "http://localhost:1/v1",
    "evaluation_lm.api_key_env": None,
    "mechanism": "pairwise",
}
NO_EXAMS: dict[str, Any] = {"consistency": None, "pertinence": None, "self_confidence": None}
FILE = """
- {name: small, evaluation_lm: compression, evaluation_lm.order: 3, mechanism: gptscore}
- {name: large, evaluation_lm: compression, mechanism: gptscore}
"""


def qualified(root: Path, judges: Any, **more: Any) -> Any:
    given = {"study": "qualification", "data": graded(5), "paths__root": str(root), **more}
    return judgelab.run(judges=judges, **given, **NO_EXAMS)


def test_a_file_and_a_list_are_the_same_judges_at_their_prices(tmp_path: Path) -> None:
    (tmp_path / "judges.yaml").write_text(FILE)
    listed, prices = [SMALL | {"name": "small"}, LARGE | {"name": "large"}], tmp_path / "p.yaml"
    prices.write_text("{currency: USD, tokens_per_call: 1, judges: {small: 2, large: 1}}")
    found = qualified(tmp_path, tmp_path / "judges.yaml", prices=str(prices))
    assert qualified(tmp_path, listed, prices=str(prices)).path == found.path
    pools = found.tables["pools"].set_index("name")
    assert {"small", "large"} <= set(pools.index)
    assert found.about["mechanism"] == "pairwise", "the run's, which neither is asked by"
    assert pools.loc["small", "cost"] == pytest.approx(2 * pools.loc["large", "cost"])
    assert pools.loc["large", "cost"] > 0 and (pools["currency"].dropna() == "USD").all()
    assert "Judges, by gptscore: small, large." in found.notes
    verdicts = found.records["clean_verdicts"]
    assert set(verdicts["judge"]) == {"small", "large"}
    scores = verdicts.select_dtypes("number").columns[-1]
    one, two = (own.to_numpy() for _, own in verdicts.groupby("judge")[scores])
    assert not np.array_equal(one, two), "each by its own LM"


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ([{"name": "a", "mechanism": "length"}], "a: mechanism=length asks no LM"),
        (
            [CHAT | {"name": "a"}, CHAT | {"name": "b", "mechanism": "pointwise5"}],
            r"a \(mechanism=pairwise\) compares answers, and b .* grades them",
        ),
        ([LARGE | {"name": "a", "preprocessor": "rules"}], "all judges read the same texts here"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, judges: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        qualified(tmp_path, judges)


def test_recorded_judges_are_of_the_data_and_vote_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"study.recorded=.*each once"):
        result(tmp_path, "study.recorded=[first,first,second]")
    with pytest.raises(ConfigError, match=r"study.recorded names judges of the data"):
        qualified(tmp_path, [SMALL | {"name": "a"}, LARGE | {"name": "b"}], recorded=["a"])


NAN = np.nan


def heard(cells: Floats, **exams: Mask) -> JudgeResponses:
    """Of as many judges as have grades or verdicts; exam -> who took it."""
    nothing = np.zeros(len(cells))
    blank, results = (np.full((1, 1), NAN), np.ones((1, 1), np.bool_)), {}
    for name, taken in exams.items():
        answers = tuple(Answers(*blank, absence="" if one else "absent") for one in taken)
        results[name] = ExamResult(answers, {}, np.zeros((2, len(cells))))
    agents = cells.shape[2] if cells.ndim == 3 else 2
    pairs = np.stack(np.triu_indices(agents, 1), axis=1)
    names = tuple(f"j{k}" for k in range(len(cells)))
    return JudgeResponses(names, pairs, cells, nothing, results)


def items(count: int) -> Panel:
    return Panel(tuple(Item(id=f"i{k}", source="") for k in range(count)))


def test_no_item_is_graded_by_weights_that_it_taught() -> None:
    """Each judge is right on one fold and wrong on the other, and so chosen for the wrong one."""
    human = np.tile([3.0, 2.0, 1.0], (8, 1))
    panel = items(8)
    even = (folds([item.id for item in panel.items], 2, seed=0) == 0)[:, None]
    grades = np.stack([np.where(even, human, -human), np.where(even, -human, human)])
    responses = heard(grades)
    pool = human_pool(responses, np.ones((8, 3)), panel, 2)
    assert (pool.sign == -1).all()
    assert_allclose(answer_scores(responses, pool, 3), -human)
    assert_allclose(pool.power, [0.5, 0.5])  # their mean would have graded all alike
    turned = replace(panel, items=panel.items[::-1])
    again = human_pool(heard(grades[:, ::-1]), np.ones((8, 3)), turned, 2)
    assert_allclose(again.sign, pool.sign[::-1])


def test_pre_takes_consistency_above_its_own_threshold_and_gives_each_one_vote() -> None:
    """.56 and .95 pass .55; by the mean, .75, the second would alone."""
    answers = np.array([[0.56] * 5, [0.95] * 5, [0.55] * 5])
    marks = mark(shares(answers), None, draws=20)
    responses = heard(np.ones((3, 5, 1, 2)))
    pool = pre_pool(responses, marks)
    assert_allclose(pool.power, [1, 1, 0])
    assert (pool.name, pool.same_list) == ("PRE", 1.0)


def test_who_is_excused_from_an_exam_weighs_as_its_passers_do() -> None:
    answers = np.repeat([[0.9], [0.9], [0.1]], 10, axis=1)
    sure, unsure = np.full((10, 1), 2.0), np.full((10, 1), 1.0)
    nothing = np.full((10, 1), NAN)
    sets = np.stack([sure, nothing, sure]), np.stack([unsure, nothing, unsure])
    exam = ConfidenceAnswers(*map(shares, sets))
    marks = {
        "consistency": mark(shares(answers), 0.5, draws=20),
        "self_confidence": mark(exam, None, draws=20),
    }
    taken = {"consistency": np.ones(3, dtype=bool), "self_confidence": exam.easy.count.any(axis=1)}
    responses = heard(np.ones((3, 10, 1, 2)), **taken)
    pool = exam_pool(responses, marks, tuple(marks))
    assert_allclose(pool.power, [0.95, 0.95, 0])
    assert pool.power_samples is not None
    assert_allclose(pool.power_samples, np.tile([0.95, 0.95, 0], (20, 1)))


def test_a_pool_is_weighted_by_the_exams_it_asks_for() -> None:
    marks = {
        "consistency": mark(shares(np.full((1, 5), 0.8)), 0.5, draws=5),
        "pertinence": mark(shares(np.full((1, 5), 0.6)), 0.5, draws=5),
    }
    taken = {exam: np.ones(1, dtype=bool) for exam in marks}
    responses = heard(np.ones((1, 5, 1, 2)), **taken)
    assert_allclose(exam_pool(responses, marks, ["consistency"]).power, [0.8])
    assert_allclose(exam_pool(responses, marks, list(marks)).power, [0.7])
