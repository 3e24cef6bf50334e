"""The studies ranking_confidence and plan: from scores to tables, notes and a page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from scipy.stats import kendalltau, spearmanr, ttest_rel

from judgelab.config import build, resolved
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.engine.parts import build_parts
from judgelab.engine.run import execute
from judgelab.report.figures import draw
from judgelab.report.tables import frame
from judgelab.stats.ranking.confidence import confidence, required_n
from judgelab.store.run_dir import RunDir
from judgelab.study.ranking.ranking_confidence import RankingConfidence
from judgelab.study.ranking.sample_size import SampleSize
from tests.scripted import ScriptedChat, panel_of

RANKING = "judgelab.study.ranking"
CONF = Path(__file__).resolve().parents[4] / "conf"


@dataclass(frozen=True)
class Loaded:
    """A dataset that is a panel."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        """It."""
        return self.panel


SMALL = ("study.bootstrap=200", "study.pairs=20", "study.evaluations=20")


@pytest.fixture(autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def outcome(folder: Path, *overrides: str) -> Result:
    """What the study of these overrides finds, without a page."""
    parts = build_parts(resolved(compose("config", overrides=[*overrides, "tracker=none"])))
    return parts.study.run(parts.context(run_dir=RunDir(folder / "run"), seed=0, limit=None))


def context_of(folder: Path, limit: int | None = None) -> Context:
    """The context of the default parts, for studies that measure nothing."""
    parts = build_parts(resolved(compose("config", overrides=["study=plan"])))
    return parts.context(run_dir=RunDir(folder), seed=0, limit=limit)


def tables(result: Result) -> dict[str, pd.DataFrame]:
    return {table["name"]: frame(table) for table in result.to_json()["tables"]}  # type: ignore[attr-defined]


def scores(
    folder: Path, systems: int = 7, items: int = 60, sign: float = 1.0, **columns: Any
) -> tuple[str, pd.DataFrame]:
    """A score table: judge = 2 human + bias of the system + noise."""
    generator = np.random.default_rng(5)
    quality, bias = np.linspace(0, 0.6, systems), generator.normal(0, 0.15, systems)
    rows = [
        {"item": f"i{i}", "system": f"s{s}", "human": h, "metric": sign * 2 * (h + bias[s] + e)}
        for i in range(items)
        for s in range(systems)
        for h, e in [(quality[s] + generator.normal(0, 0.5), generator.normal(0, 0.8))]
    ]
    table = pd.DataFrame(rows).assign(**columns)
    table.loc[3, "metric"] = np.nan
    path = folder / "scores.csv"
    table.to_csv(path, index=False)
    return str(path), table


def table_study(path: str, *more: str) -> list[str]:
    return [
        "study=ranking_confidence",
        "dataset=score_table",
        f"dataset.path={path}",
        *more,
        *SMALL,
    ]


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("annotated")
    path, table = scores(folder)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return outcome(folder, *table_study(path)), table


def test_the_judge_is_what_the_table_says(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    summary = result.summary
    known = table.dropna()
    assert summary["judge/r"] == pytest.approx(np.corrcoef(known["human"], known["metric"])[0, 1])
    assert summary["judge/sd"] == pytest.approx(table["human"].std(ddof=0))
    assert (summary["items"], summary["systems"], summary["n"]) == (60, 7, 60)
    assert summary["clean/unscored_texts"] == 1
    assert summary["mechanism"] == "recorded_scores" and summary["metric"] == "metric"
    assert "evaluation_lm" not in summary, "nobody was asked"
    assert summary["judge/r_low"] < summary["judge/r"] < summary["judge/r_high"]  # type: ignore[operator]
    assert 0 < summary["judge/system_bias_sd"] < 0.5  # type: ignore[operator]
    assert result.primary in summary


def test_every_pair_has_its_confidence(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    order = tables(result)["ranking"]
    assert len(order) == 7 * 6 / 2 == result.summary["ranking/pairs"]
    assert (order["people"] <= order["same_metric"]).all() and (order["gap"] >= 0).all()
    wide = table.pivot(index="item", columns="system", values="metric")
    row = order.iloc[4]
    both = wide[[row["higher"], row["lower"]]].dropna()
    test = ttest_rel(both[row["higher"]], both[row["lower"]])
    assert row["same_metric"] == pytest.approx(1 - test.pvalue / 2)
    assert row["shared_items"] == len(both)
    systems = tables(result)["systems"]
    assert list(systems["value"]) == sorted(systems["value"], reverse=True)
    assert systems["above_next_people"].isna().sum() == 1


def test_curves_are_algorithm_1(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    found, human = tables(result), table["human"].to_numpy()
    curve = found["by_items"]
    assert set(curve["n"]) == {25, 50, 60, 100, 200, 500, 1000}
    row = curve[curve["n"] == 60].iloc[11]
    exact = confidence(row["r"], 60, row["delta"], human, method="closed_form")
    assert row["closed_form"] == pytest.approx(float(exact.value))
    off = np.abs(curve["confidence"] - curve["closed_form"]) / curve["standard_error"]
    assert off.max() < 4.5
    trade = found["trade_off"]
    assert sorted(trade["delta"].unique() / human.std()) == pytest.approx(
        [0.1, 0.2, 0.4, 0.8], rel=1e-3
    )
    row = trade.iloc[10]
    assert row["items"] == required_n(row["r"], row["delta"], sd=human.std())
    noise = found["noise"]
    assert np.abs(noise["simulated"] - noise["r"]).max() < 0.05
    assert set(found["by_correlation"]["n"]) == {60}


def test_predictions_are_held_against_the_bootstrap(
    annotated: tuple[Result, pd.DataFrame],
) -> None:
    result, table = annotated
    found = tables(result)
    pairs = found["human_pairs"]
    means = table.groupby("system")["human"].mean()
    for row in pairs.to_dict("records"):
        assert row["delta"] == pytest.approx(means[row["better"]] - means[row["worse"]])
        assert row["delta"] > 0 and row["bias"] <= row["algorithm_1"]
    assert result.summary["ranking/agreement"] == pytest.approx(pairs["unpaired"].mean())
    errors = found["calibration_error"]
    assert list(errors["n"]) == [21] * 6 and set(errors["clusters"]) == {7}
    weights = found["calibration"].query("model == 'Algorithm 1'")
    by_hand = (weights["n"] * (weights["predicted"] - weights["value"]).abs()).sum() / 21
    assert errors["value"][0] == pytest.approx(by_hand)
    assert found["observed"].query("items == 'paired'")["n"].sum() == 21
    assert any("Calibration error" in note for note in result.notes)


def test_its_figures(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, _ = annotated
    assert result.figures == [
        "ranking_systems",
        "ranking_observed",
        "ranking_calibration",
        "ranking_errors",
        "ranking_by_items",
        "ranking_trade_off",
        "ranking_by_correlation",
        "ranking_noise",
    ]
    found = tables(result)
    for name in result.figures:
        assert draw(name, found).caption
    assert len(draw("ranking_calibration", found).figure.axes) == 3


def test_a_metric_that_is_measured(tmp_path: Path) -> None:
    """The sample of RoSE, its texts measured: they are read, and it says synthetic."""
    result = outcome(
        tmp_path, "study=ranking_confidence", "dataset=rose", "mechanism=length", *SMALL
    )
    assert result.summary["mechanism"] == "length" and result.summary["dataset"] == "rose"
    assert result.summary["systems"] == 8 and any("Synthetic" in note for note in result.notes)
    assert (tmp_path / "run" / "records" / "clean_scores.parquet").is_file()
    assert (tmp_path / "run" / "records" / "clean_texts.parquet").is_file()
    with pytest.raises(ConfigError, match="attack=none"):
        outcome(tmp_path, "study=ranking_confidence", "dataset=rose", "attack=padding", *SMALL)


def test_a_judge_that_goes_against_people(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, sign=-1.0)
    result = outcome(tmp_path, *table_study(path))
    assert result.summary["judge/r"] < 0  # type: ignore[operator]
    assert any("no noise level" in note for note in result.notes)
    assert "by_items" not in tables(result) and "ranking" in tables(result)
    assert "people" not in tables(result)["ranking"]


def test_few_systems_are_ranked_but_not_predicted(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, systems=3)
    result = outcome(tmp_path, *table_study(path))
    assert result.primary == "ranking/mean_confidence"
    assert "calibration" not in tables(result) and len(tables(result)["ranking"]) == 3
    assert any("fewer than four" in note for note in result.notes)


@pytest.mark.parametrize("said", [(), ("study.r=0.4", "study.system_bias_sd=0.2")])
def test_scores_without_people(tmp_path: Path, said: tuple[str, ...]) -> None:
    path, table = scores(tmp_path)
    result = outcome(tmp_path, *table_study(path, "dataset.human=null", *said))
    found = tables(result)
    assert len(found["ranking"]) == 21 and "human_gap" not in found["ranking"]
    if not said:
        assert "by_items" not in found and "people" not in found["ranking"]
        assert any("upper bound" in note for note in result.notes)
        assert any("not of people's" in note for note in result.notes)
        return
    spread = table["metric"].std(ddof=0)
    row = found["ranking"].iloc[0]
    assert row["gap_human_units"] == pytest.approx(row["gap"] / (0.4 * spread))
    assert (found["ranking"]["people"] < found["ranking"]["same_metric"]).all()
    assert set(found["by_items"]["r"]) == {0.4}


def test_a_run_that_exists_is_ranked(
    annotated: tuple[Result, pd.DataFrame], tmp_path: Path
) -> None:
    """The records of any study: what it wrote is all that is read."""
    path, _ = scores(tmp_path)
    direct = outcome(tmp_path, *table_study(path))
    run = RunDir(tmp_path / "run")
    run.write_json("result.json", direct.to_json())
    run.finish()
    result = outcome(tmp_path / "b", "study=ranking_confidence", f"study.run={run.path}", *SMALL)
    for key, value in annotated[0].summary.items():
        assert result.summary[key] == pytest.approx(value, nan_ok=True), key
    assert any("finished run (recorded_scores on scores)" in note for note in result.notes)
    assert not (tmp_path / "b" / "run" / "records").exists(), "nothing was measured"
    few = RankingConfidence(run=str(run.path), bootstrap=50, pairs=5, evaluations=5)
    assert few.run(context_of(tmp_path / "c", limit=20)).summary["items"] == 20


def test_runs_that_cannot_be_ranked(tmp_path: Path) -> None:
    study = ["study=ranking_confidence", f"study.run={tmp_path}"]
    with pytest.raises(DataError, match="no finished run"):
        outcome(tmp_path, *study)
    (tmp_path / "DONE").touch()
    with pytest.raises(DataError, match="scores no single texts"):
        outcome(tmp_path, *study)
    (tmp_path / "records").mkdir()
    pd.DataFrame({"item": ["a"]}).to_parquet(tmp_path / "records" / "clean_scores.parquet")
    with pytest.raises(DataError, match=r"result\.json"):
        outcome(tmp_path, *study)
    (tmp_path / "result.json").write_text('{"summary": {}}')
    with pytest.raises(DataError, match="lacks one of the columns"):
        outcome(tmp_path, *study)
    row = {"item": "i", "agent": "a", "reference": False, "score": 1.0, "human": None}
    records = pd.DataFrame([row, row])
    records.to_parquet(tmp_path / "records" / "clean_scores.parquet")
    with pytest.raises(DataError, match="one for each text"):
        outcome(tmp_path, *study)


def test_settings_that_cannot_count_are_named(tmp_path: Path) -> None:
    path, _ = scores(tmp_path)
    result = outcome(tmp_path, *table_study(path, "study.sd=3"))
    assert result.summary["judge/sd"] != 3
    assert any("fitted on human scores: study.sd" in note for note in result.notes)
    more = ("dataset.human=null", "study.system_bias_sd=0.2")
    result = outcome(tmp_path, *table_study(path, *more))
    assert any("without study.r: study.system_bias_sd" in note for note in result.notes)
    assert result.summary["ranking/order_of"] == "the same metric"


def test_what_is_not_known_is_not_nought(tmp_path: Path) -> None:
    """Neither a bias of 0 nor a correlation of 0 where nothing can be said of them."""
    path, _ = scores(tmp_path)
    result = outcome(tmp_path, *table_study(path, "dataset.human=null", "study.r=0.4"))
    found = tables(result)
    assert "items_with_bias" not in found["trade_off"]
    drawn = draw("ranking_trade_off", found)
    assert drawn.figure.axes and "not known" in drawn.caption
    table = pd.read_csv(path)
    table["item"] = table["item"] + table["system"]  # no two systems answer the same item
    table.to_csv(path, index=False)
    result = outcome(tmp_path / "b", *table_study(path))
    assert math.isnan(result.summary["judge/item_correlation"])  # type: ignore[arg-type]
    assert math.isnan(result.summary["judge/system_bias_sd"])  # type: ignore[arg-type]
    assert result.summary["ranking/pairs"] == 0
    assert result.summary["ranking/pairs_unscored"] == 21
    assert any("21 pairs of systems share fewer" in note for note in result.notes)
    RunDir(tmp_path / "c").write_json("result.json", result.to_json())


def test_a_system_without_scores_is_listed(tmp_path: Path) -> None:
    path, table = scores(tmp_path)
    table.loc[table["system"] == "s6", "metric"] = np.nan
    table.to_csv(path, index=False)
    result = outcome(tmp_path, *table_study(path))
    last = tables(result)["systems"].iloc[-1]
    assert last["system"] == "s6" and math.isnan(last["rank"]) and math.isnan(last["value"])
    assert (last["n"], last["unscored"]) == (0, 60)
    drawn = draw("ranking_systems", tables(result)).figure
    assert any(text.get_text() == "unscored" for text in drawn.axes[0].texts)


def test_the_bias_has_an_interval(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, _ = annotated
    row = tables(result)["judge"].set_index("quantity").loc["bias between systems (sd)"]
    assert row["low"] < row["value"] < row["high"] and row["n"] == 7
    assert result.summary["judge/system_bias_sd_high"] == row["high"]
    assert any("interval over 7 systems" in note for note in result.notes)


def test_a_bias_term_that_does_not_pay_says_why(tmp_path: Path) -> None:
    """Means of systems three times as steep as texts: Algorithm 1 is too careful throughout."""
    path, table = scores(tmp_path, systems=9)
    quality = table["system"].str[1:].astype(float)
    table["metric"] = table["metric"] + 3 * (quality - 4)
    table.to_csv(path, index=False)
    result = outcome(tmp_path, *table_study(path))
    plain, bias = (result.summary[f"calibration/error_{m}"] for m in ("algorithm_1", "bias"))
    assert bias > plain  # type: ignore[operator]
    said = " ".join(result.notes)
    assert (
        "Why the bias does not help" in said
        and "too careful" in said
        and "only lower a confidence" in said
    )


def test_peoples_order_is_by_the_model_with_the_smallest_error(tmp_path: Path) -> None:
    """Bias where systems are favoured; Algorithm 1 where the bias term makes it worse."""
    path, table = scores(tmp_path, systems=9)
    favoured = outcome(tmp_path, *table_study(path))
    quality = table["system"].str[1:].astype(float)
    table["metric"] = table["metric"] + 3 * (quality - 4)
    table.to_csv(path, index=False)
    steep = outcome(tmp_path / "b", *table_study(path))
    given = outcome(tmp_path / "c", *table_study(path, "study.system_bias_sd=0.3"))
    for result, chosen in ((favoured, None), (steep, None), (given, "bias")):
        summary = result.summary
        errors = {m: summary[f"calibration/error_{m}"] for m in ("algorithm_1", "bias", "line")}
        least = min(errors, key=lambda name: errors[name])  # type: ignore[arg-type,return-value]
        assert summary["ranking/model"] == (chosen or least)
        assert any("confidence in people's order is by" in note for note in result.notes)
    assert steep.summary["ranking/model"] != "bias"
    assert favoured.summary["ranking/model"] != "algorithm_1"
    assert any("as study.system_bias_sd asks" in note for note in given.notes)
    plain = tables(steep)["ranking"]
    if steep.summary["ranking/model"] == "algorithm_1":
        assert (plain["people"] == plain["same_metric"]).all()


def test_means_that_go_against_people_are_not_people_s_order(tmp_path: Path) -> None:
    """Texts agree with people, but systems' means fall as people's rise: the line knows."""
    path, table = scores(tmp_path, systems=9)
    table["metric"] = table["metric"] - 0.6 * table["system"].str[1:].astype(float)
    table.to_csv(path, index=False)
    result = outcome(tmp_path, *table_study(path))
    assert result.summary["judge/r"] > 0 and result.summary["ranking/model"] == "line"  # type: ignore[operator]
    pairs = tables(result)["ranking"]
    right = (pairs["human_gap"] > 0).mean()
    assert right < 0.2 and pairs["people"].mean() == pytest.approx(right, abs=0.15)
    assert result.summary["ranking/sure_pairs"] == 0
    assert any("fall as people's rise" in note for note in result.notes)


def test_a_judge_fitted_elsewhere_is_tested_here(tmp_path: Path) -> None:
    """study.r, study.train and study.train_run predict; people's scores here only test them."""
    here, table = scores(tmp_path)
    (tmp_path / "other").mkdir()
    there, _ = scores(tmp_path / "other", items=40, sign=0.5)
    said = outcome(tmp_path / "a", *table_study(here, "study.r=0.9"))
    assert said.summary["judge/r"] == 0.9 and said.summary["judge/from"] == "settings"
    known = table.dropna()
    real = np.corrcoef(known["human"], known["metric"])[0, 1]
    assert said.summary["here/r"] == pytest.approx(real)
    assert set(tables(said)["human_pairs"]["r_that_predicts"]) == {0.9}
    assert list(tables(said)["calibration_error"]["model"]) == ["Algorithm 1"] * 2
    gap = said.summary["calibration/error_algorithm_1"]
    assert gap > 0.1, "far too sure"  # type: ignore[operator]
    own = outcome(tmp_path / "b", *table_study(there))
    train = ["dataset@study.train=score_table", f"study.train.path={there}"]
    trained = outcome(tmp_path / "c", *table_study(here, *train))
    run = RunDir(tmp_path / "b" / "run")
    run.write_json("result.json", own.to_json())
    run.finish()
    again = outcome(tmp_path / "d", *table_study(here, f"study.train_run={run.path}"))
    assert again.summary == trained.summary
    assert trained.summary["judge/r"] == own.summary["judge/r"] != trained.summary["here/r"]
    assert trained.summary["judge/from"] == "training data"
    assert any("take no part in" in note for note in trained.notes)
    with pytest.raises(ConfigError, match="give one"):
        outcome(tmp_path / "e", *table_study(here, "study.r=0.9", f"study.train_run={run.path}"))


def test_correlations_of_ranks_stand_beside_r(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    known = table.dropna()
    tau = kendalltau(known["human"], known["metric"]).statistic
    rho = spearmanr(known["human"], known["metric"]).statistic
    assert result.summary["here/tau"] == pytest.approx(tau)
    assert result.summary["here/rho"] == pytest.approx(rho)
    assert result.summary["here/tau_low"] < tau < result.summary["here/tau_high"]  # type: ignore[operator]


def test_errors_stand_beside_the_noise(annotated: tuple[Result, pd.DataFrame]) -> None:
    """A judge that is people plus Gaussian noise has the errors that Algorithm 1 draws."""
    found = tables(annotated[0])["errors"]
    assert found["simulated"].sum() == pytest.approx(1) == found["value"].sum()
    assert (found["value"] - found["simulated"]).abs().max() < 0.06
    assert math.isnan(found["to"].iloc[-1]) and set(found["n"]) == {60}


@pytest.mark.parametrize("column", ["human", "metric"])
def test_scores_that_do_not_vary(tmp_path: Path, column: str) -> None:
    path, _ = scores(tmp_path, **{column: 0.1})
    result = outcome(tmp_path, *table_study(path, "study.r=0.4"))
    assert any("do not vary: r = 0.4" in note for note in result.notes)
    order = tables(result)["ranking"]
    assert len(order) == 21
    if column == "metric":
        assert (order["same_metric"] == 0.5).all() and "people" not in order


def test_a_judge_that_is_people(tmp_path: Path) -> None:
    path, table = scores(tmp_path)
    table["metric"] = 2 * table["human"] + 1
    table.to_csv(path, index=False)
    summary = outcome(tmp_path, *table_study(path)).summary
    assert summary["judge/r"] == pytest.approx(1) and summary["judge/system_bias_sd"] == 0


def test_a_dry_run_asks_what_a_run_asks(tmp_path: Path) -> None:
    """A plan asks nobody, and a finished run is read; else one question for every text."""
    lm = ScriptedChat(lambda request: "3")
    mechanism = resolved(compose("config", overrides=["mechanism=acu_rating"]))["mechanism"]
    texts = [["one text", "another"], ["a third", None]]
    asking = replace(
        context_of(tmp_path),
        dataset=Loaded(panel_of(texts)),
        agents=build({"_target_": "judgelab.agents.recorded.Recorded"}, "agents"),
        mechanism=build(mechanism, "mechanism"),
        evaluation_lm=lm,
    )
    SampleSize().ask(asking)
    RankingConfidence(run="anywhere").ask(asking)
    assert not lm.seen
    RankingConfidence().ask(asking)
    assert len(lm.seen) == 3 and not (tmp_path / "records").exists()


def test_one_system_is_no_ranking(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, systems=1)
    with pytest.raises(DataError, match="two systems at least, but 1"):
        outcome(tmp_path, *table_study(path))


@pytest.mark.parametrize(
    "given",
    [
        {"confidence": 0.5},
        {"sizes": [0]},
        {"correlations": [0.0]},
        {"deltas": []},
        {"deltas": [math.inf]},
        {"sd": math.inf},
        {"system_bias_sd": math.inf},
        {"pairs": 1},
        {"r": 0.0},
        {"sd": 0.0},
        {"system_bias_sd": -1.0},
        {"items": 0},
        {"train": "xsum"},
    ],
)
def test_what_cannot_be_asked(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"study\."):
        build({"_target_": f"{RANKING}.ranking_confidence.RankingConfidence", **given}, "study")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Context:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return context_of(tmp_path_factory.mktemp("plan"))


def plan(lab: Context, **given: Any) -> tuple[Mapping[str, Any], dict[str, Any], str]:
    result = SampleSize(**{"r": 0.3, "delta": 0.05, "sd": 0.25, **given}).run(lab)
    return result.summary, tables(result), " ".join(result.notes)


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
