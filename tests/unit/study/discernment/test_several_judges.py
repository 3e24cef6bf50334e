"""Several judges in one run: each as if it were alone, and held against the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judgelab
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import ChatRequest
from judgelab.report.jobs import comparisons, jobs
from judgelab.study.common.judges import NamedJudge
from judgelab.study.discernment.study import Discernment
from tests.drawings import draw
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.python.frames import graded
from tests.unit.report.report_results import write_job
from tests.unit.study.discernment.discernment_context import (
    QUICK,
    RATING,
    at_random,
    counts_typos,
    lab,
    references,
)

ONLY = ["typos_major", "deletions_major", "reordering_minor"]
SETTINGS: dict[str, Any] = {"study": "discernment", "only": ONLY, "replicates": 100}
LISTED = """
- {name: length, mechanism: length}
- {name: coarse, evaluation_lm: compression, evaluation_lm.order: 2}
- {name: fine, evaluation_lm: compression}
"""


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of three judges of a file, on the compression LM."""
    root = tmp_path_factory.mktemp("root")
    (root / "judges.yaml").write_text(LISTED)
    given = SETTINGS | {"data": graded(8), "paths__root": str(root)}
    return judgelab.run(judges=root / "judges.yaml", **given)


def test_each_has_the_numbers_that_it_has_alone(listed: Any) -> None:
    given = SETTINGS | {"data": graded(8), "paths__root": str(listed.path.parents[1])}
    alone = judgelab.run(evaluation_lm__order=2, **given)
    assert alone is not None and alone.primary == "discernment/average_ew"
    for name in ("discernment", "averages"):
        mine = listed.tables[name].query("judge == 'coarse'").drop(columns="judge")
        theirs = alone.tables[name].drop(columns=["d", "d_n", "d_threshold"], errors="ignore")
        assert mine.reset_index(drop=True).equals(theirs) and len(theirs), name
    one, other = listed.summary.loc["discernment/coarse"], alone.summary.loc[alone.primary]
    assert one.equals(other.rename(one.name))
    assert listed.path.name.startswith("discernment-")


def test_the_best_stands_first_everywhere(listed: Any) -> None:
    judges = listed.tables["judges"]
    assert judges["discernment"].is_monotonic_decreasing
    best = judges.loc[0, "judge"]
    assert listed.about["best"] == best and best in listed.verdict.splitlines()[0]
    pairs = listed.tables["judge_pairs"]
    assert (pairs["difference"] >= 0).all() and (pairs["n"] == 8).all()
    held = judges.set_index("judge")["discernment"]
    for side in ("first", "second"):
        assert pairs[f"{side}_discernment"].to_numpy() == pytest.approx(held[pairs[side]])
    assert (pairs["p_holm"] >= pairs["p"]).all()
    assert set(listed.tables["by_perturbation"]["perturbation"]) == set(ONLY)


def test_calls_and_records_are_by_judge(listed: Any) -> None:
    judges = listed.tables["judges"].set_index("judge")
    assert judges.loc["coarse", "calls"] == judges.loc["fine", "calls"] > 0
    assert judges.loc["length", ["model", "calls"]].isna().all(), "it asks nobody"
    said = listed.records["judgments"].groupby("by")["value"]
    assert set(said.groups) == {"length", "coarse", "fine"} and said.count().nunique() == 1
    assert set(listed.records["clean_measurements"]["judge"]) == {"length", "coarse", "fine"}
    page = (listed.path / "items.html").read_text()
    assert '"judges":["length","coarse","fine"]' in page.replace(", ", ",").replace(": ", ":")


def test_a_sweep_compares_the_judges_of_a_list(listed: Any, tmp_path: Path) -> None:
    """They were left out, without a word."""
    write_job(tmp_path / "s" / "t", 0, {}, status="done", run=str(listed.path))
    board, styles = comparisons(jobs(tmp_path / "s" / "t"))
    ranked = listed.tables["judges"]
    assert list(board.rows["judge"]) == list(ranked["judge"])
    assert list(board.rows["average_ew"]) == list(ranked["discernment"])
    assert set(styles.rows["judge"]) == set(ranked["judge"])
    shown = {"judges": board.rows, "response_styles": styles.rows}
    assert all(draw(name, shown).caption for one in (board, styles) for name in one.figures)


def scripted(*rules: Callable[[ChatRequest], str | None]) -> dict[str, NamedJudge]:
    """Judges that are named after their places."""
    made = {f"judge {k}": ScriptedChat(rule) for k, rule in enumerate(rules, start=1)}
    return {name: NamedJudge(lm, place=f"study.judges.{name}") for name, lm in made.items()}


def nothing(request: ChatRequest) -> None: ...


@pytest.mark.parametrize(
    ("rules", "heading", "words"),
    [
        ([at_random, counts_typos], "judge 2 discerns most", "Surely less on the same items"),
        (
            [at_random, counts_typos, counts_typos],
            "Who discerns most is not decided",
            "items: judge 1. Not shown to be behind it: judge 3.",
        ),
        ([at_random, lambda _: "3"], "No judge is shown to discern more than", "chance reaches"),
        ([nothing, nothing], "Who discerns more is not known", "No judge has enough ratings"),
        ([counts_typos, nothing], "Who discerns most", "Without enough ratings: judge 2."),
        ([counts_typos], "Does not see every", "(judge 1, rating) does not see: reordering_minor"),
    ],
)
def test_the_answer_is_as_loud_as_the_tests(
    tmp_path: Path, rules: list[Any], heading: str, words: str
) -> None:
    study = Discernment(only=["typos_major", "reordering_minor"], judges=scripted(*rules), **QUICK)
    result = study.run(lab(tmp_path, NOBODY, panel=references().head(24)))
    said = result.answer[0]
    assert said[0].startswith(heading) and words in said[1] and "nan" not in str(result.answer)
    if len(rules) == 3:
        assert result.answer[1][1] == "No judge sees reordering_minor: let people check for that."
    assert json.dumps(result.to_json(), allow_nan=False)


def test_a_dry_run_asks_the_same(tmp_path: Path) -> None:
    dry, real = ({"a": ScriptedChat(counts_typos), "b": ScriptedChat(at_random)} for _ in range(2))
    few = references().head(6)
    for lms, go in ((dry, "ask"), (real, "run")):
        judges = {name: NamedJudge(lm) for name, lm in lms.items()}
        study = Discernment(only=["typos_major"], judges=judges, **QUICK)
        getattr(study, go)(lab(tmp_path, NOBODY, panel=few))
    assert dry["a"].seen == real["a"].seen and dry["b"].seen == real["b"].seen != []
    assert study.asks(RATING, NOBODY)["study.judges.a.evaluation_lm"][0] is RATING


def test_who_cannot_rate_is_refused_by_name_before_anybody_is_asked(tmp_path: Path) -> None:
    given = {"data": graded(2), "paths__root": str(tmp_path)} | SETTINGS
    with pytest.raises(ConfigError, match=r"study\.judges\.r: .*mechanism=rouge_l holds texts"):
        judgelab.run(judges=[{"name": "r", "mechanism": "rouge_l"}], **given)
    chat = {"name": "c", "evaluation_lm": "openai", "evaluation_lm.model": "m"}
    with pytest.raises(CapabilityError, match="rating_likelihood needs an LM with logprob"):
        judgelab.run(judges=[chat], **given)
    one = judgelab.run("+evaluation_lm@study.judges.own=compression", limit=2, **given)
    assert one is not None and list(one.tables["judges"]["judge"]) == ["own"]
