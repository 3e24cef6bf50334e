"""study=plan: how many items a ranking needs, and what they cost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError
from judgelab.engine.context import Context
from judgelab.engine.run import execute
from judgelab.report.figures import draw
from judgelab.stats.ranking.confidence import required_n
from judgelab.store.run_dir import RunDir
from judgelab.study.ranking.sample_size import SampleSize
from tests.unit.study.ranking.ranking_context import (
    CONF,
    RANKING,
    context_of,
    outcome,
    scores,
    table_study,
    tables,
)


@pytest.fixture(autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Context:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return context_of(tmp_path_factory.mktemp("plan"))


def plan(lab: Context, **given: Any) -> tuple[Mapping[str, Any], dict[str, Any], str]:
    result = SampleSize(**{"r": 0.3, "delta": 0.05, "sd": 0.25, **given}).run(lab)
    said = [*(words for _, words in result.answer), *result.notes]
    return result.summary, tables(result), " ".join(said)


def test_the_plan_of_the_issue(lab: Context) -> None:
    summary, found, said = plan(lab, r=0.3, delta=0.05, confidence=0.95, price=0.01)
    items = required_n(0.3, 0.05, 0.95, sd=0.25)
    assert summary["required_items"] == items == 1504
    assert summary["cost"] == pytest.approx(2 * items * 0.01)
    assert {"mechanism", "dataset", "evaluation_lm"}.isdisjoint(summary)
    assert "needs 1,504 items" in said and "upper bound" in said and "30.08: 0.01 a text" in said
    assert "would need 376 (at the same price 22.56 less)" in said
    row = found["plan"].iloc[0]
    assert abs(row["simulated"] - 0.95) < 4 * row["standard_error"]
    judges = found["judges"].set_index("r")
    assert list(judges.index) == pytest.approx([0.3, 0.4, 0.5, 0.6])
    assert judges["items"].iloc[-1] == required_n(0.6, 0.05, 0.95, sd=0.25)
    assert judges["saved"].iloc[-1] == pytest.approx(0.75, abs=0.001)
    assert judges["saved_at_this_price"].iloc[-1] == pytest.approx(2 * (1504 - 376) * 0.01)
    assert judges["worth_up_to"].iloc[-1] == pytest.approx(4, abs=0.02)
    sizes = found["sizes"].set_index("items")
    assert sizes.loc[1504, "smallest_difference"] == pytest.approx(0.05, rel=1e-3)
    assert sizes.loc[1504, "least_r"] == pytest.approx(0.3, rel=1e-3)
    assert math.isnan(sizes.loc[50, "least_r"])
    curve = found["plan_curve"]
    assert (curve.groupby("r")["confidence"].apply(lambda c: c.is_monotonic_increasing)).all()
    drawn = draw("ranking_plan", found)
    assert drawn.figure.axes and "1,504 items" in drawn.caption


def test_a_plan_that_no_number_of_items_fulfils(lab: Context) -> None:
    summary, found, said = plan(lab, system_bias_sd=0.05, price=1.0)
    assert math.isinf(summary["required_items"]) and summary["cost"] is None
    assert summary["ceiling"] == pytest.approx(0.7602, abs=1e-4)
    assert "No number of items" in said and "0.760" in said
    drawn = draw("ranking_plan", found)
    assert drawn.figure.axes and "no number of items is enough" in drawn.caption


def test_a_difference_too_small_to_plan_for(lab: Context) -> None:
    """More items than a machine can draw: the closed form still answers."""
    summary, found, said = plan(lab, delta=1e-10, price=1e-6)
    assert summary["required_items"] == required_n(0.3, 1e-10, sd=0.25) > 1e19
    assert "simulated" not in found["plan"]
    drawn = draw("ranking_plan", found)
    assert drawn.figure.axes and drawn.caption
    assert "items" in said


def test_prices_come_from_a_list_or_are_refused(lab: Context, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: EUR\nmodels:\n  mine: {input: 1.0, output: 100.0}\n")
    options: dict[str, Any] = {"input_tokens": 2000, "output_tokens": 20, "prices": str(prices)}
    summary, _, said = plan(lab, model="mine", **options)
    assert summary["cost"] == pytest.approx(summary["required_items"] * 2 * 0.004)
    assert "EUR" in said and "0.004 EUR a text of 2,000 + 20 tokens by mine" in said
    with pytest.raises(DataError, match="no price of 'other'"):
        plan(lab, model="other", **options)
    listed, _, _ = plan(lab, model="gpt-4o")
    assert listed["cost"] > 0
    unknown, _, said = plan(lab)
    assert unknown["cost"] is None and "study.price" in said


def test_human_scores_replace_the_sd(lab: Context, tmp_path: Path) -> None:
    path, table = scores(tmp_path)
    given: dict[str, Any] = {"delta": 0.1, "sd": None, "scores": {"path": path}}
    summary, _, said = plan(lab, **given)
    assert summary["sd"] == pytest.approx(table["human"].std(ddof=0))
    human = table["human"].to_numpy()
    assert summary["required_items"] == required_n(0.3, 0.1, 0.95, human)
    assert "your 420 human scores (0 cells are empty)" in said
    table.loc[:2, "human"] = np.nan
    table.to_csv(path, index=False)
    assert "your 417 human scores (3 cells are empty)" in plan(lab, **given)[2]
    with pytest.raises(DataError, match=r"study\.scores\.column"):
        plan(lab, sd=None, scores={"path": path, "column": "people"})
    scores(tmp_path, human=1.0)
    with pytest.raises(DataError, match="equal"):
        plan(lab, **given)


def test_a_plan_reads_the_judge_and_guesses_no_scale(lab: Context, tmp_path: Path) -> None:
    path, table = scores(tmp_path)
    table["human"] = 1 + 4 * (table["human"] - table["human"].min())  # another scale
    table.to_csv(path, index=False)
    read = {"sd": None, "r": None, "delta": 0.4, "scores": {"path": path, "metric": "metric"}}
    summary, found, said = plan(lab, **read)
    direct = outcome(tmp_path, *table_study(path))
    for name, key in (("r", "judge/r"), ("sd", "judge/sd")):
        assert summary[name] == pytest.approx(direct.summary[key])
    assert summary["system_bias_sd"] == pytest.approx(direct.summary["judge/system_bias_sd"])
    assert summary["required_items_without_bias"] < summary["required_items"]
    assert len(found["known"]) == 4 and "From scores.csv" in said and "by Algorithm 1 alone" in said
    run = RunDir(tmp_path / "run")
    run.write_json("result.json", direct.to_json())
    run.finish()
    same, _, _ = plan(lab, **{**read, "scores": {}, "train_run": str(run.path)})
    assert same == summary
    panel = tmp_path / "panel.jsonl"
    lines = [
        {"id": str(k), "source": "s", "responses": {"a": "x"}, "human": {"a": k}} for k in range(5)
    ]
    panel.write_text("\n".join(map(json.dumps, lines)))
    assert plan(lab, sd=None, scores={"path": str(panel)})[0]["sd"] == pytest.approx(math.sqrt(2))
    for missing, word in (("sd", "sd of human scores"), ("r", "correlation"), ("delta", "delta")):
        with pytest.raises(ConfigError, match=word):
            plan(lab, **{missing: None})
    with pytest.raises(ConfigError, match=r"study\.scores\.file"):
        plan(lab, scores={"file": "x"})
    for unread in ({"metric": "judge"}, {"column": "grade", "path": str(panel)}):
        with pytest.raises(ConfigError, match="names a column of a table"):
            plan(lab, sd=None, scores=unread)
    for metric, why in ((-table["metric"], "at r = -"), (1.0, "columns 'human' and 'metric'")):
        table.assign(metric=metric).to_csv(path, index=False)
        with pytest.raises(DataError, match=why):
            plan(lab, **read)
    known = plan(lab, **read | {"r": 0.5})[1]["known"]
    assert "study.r" in set(known["from"]), "what is given counts"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"r": 0.0}, r"study\.r"),
        ({"delta": 0.0}, r"study\.delta"),
        ({"confidence": 1.0}, r"study\.confidence"),
        ({"sd": -1.0}, r"study\.sd"),
        ({"item_correlation": 1.0}, r"study\.item_correlation"),
        ({"system_bias_sd": -0.1}, r"study\.system_bias_sd"),
        ({"systems": 1}, r"study\.systems"),
        ({"better": [1.5]}, r"study\.better"),
        ({"price": 1.0, "model": "m"}, r"study\.price"),
        ({"price": -1.0}, r"study\.price"),
        ({"price": math.nan}, r"study\.price"),
        ({"delta": math.inf}, r"study\.delta"),
        ({"delta": -0.05}, r"study\.delta"),
        ({"sd": math.inf}, r"study\.sd"),
        ({"system_bias_sd": math.inf}, r"study\.system_bias_sd"),
    ],
)
def test_what_cannot_be_planned(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build({"_target_": f"{RANKING}.sample_size.SampleSize", "scores": {}, **given}, "study")


def test_a_plan_is_not_named_after_what_it_does_not_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["study.r=.3", "study.sd=.25", "study.delta=.05", f"paths.root={tmp_path}"]
    execute(compose("config", overrides=["study=plan", "tracker=none", *given]))
    (run,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"plan-[0-9a-f]{12}", run.name)
    page = (run / "report.html").read_text()
    assert "<h1>plan</h1>" in page and page.count("<svg") == 1
    printed = capsys.readouterr().out
    assert "needs 1,504 items" in printed
    assert "tvd_mi" not in printed and "xsum" not in printed
    assert json.loads((run / "result.json").read_text())["summary"]["required_items"] == 1504
