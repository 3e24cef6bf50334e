"""An audit that asks judges until their places are clear."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from judgelab.core.errors import ConfigError
from judgelab.core.resources import conf
from judgelab.engine.run import execute
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.sequential.ends import betting_ends
from judgelab.study.audit.stopped import asked_until, at_every_look, in_turn
from judgelab.study.audit.unseen import left_out
from tests.judgment_tables import made_raters
from tests.scripted_judges import write_panel

JUDGE = "{_target_: tests.scripted_judges.ScriptedJudge, rule: %s}"
ITEMS = 60


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Of three judges: the full run, and one that stops when their order is sure."""
    folder, found = tmp_path_factory.mktemp("audit"), {}
    write_panel(folder / "panel.jsonl", ITEMS)
    judges = [f"+study.judges.{rule}={JUDGE % rule}" for rule in ("one", "longer", "oracle")]
    for name, words in (("full", []), ("stopped", ["study.stop.order=.95"])):
        given = ["study=audit", "study.parts=[gate,agreement]", "mechanism=pairwise"]
        given += [
            "tracker=none",
            "dataset=jsonl",
            f"dataset.path={folder}/panel.jsonl",
            "study.bootstrap=100",
        ]
        given += [f"paths.root={folder / name}", *judges, *words]
        with initialize_config_dir(str(conf()), version_base="1.3"):
            execute(compose("config", overrides=given))
        (run,) = (folder / name / "runs").glob("*")
        found[name] = json.loads((run / "result.json").read_text())
    return found


def test_what_was_not_asked_is_not_unscored(results: dict[str, dict[str, Any]]) -> None:
    rows = agreement(results["stopped"])
    assert min(row["n"] for row in rows.values()) < ITEMS
    assert {row["unscored"] for row in rows.values()} == {0}


def agreement(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    rows = next(t for t in result["tables"] if t["name"] == "agreement")["rows"]
    return {row["judge"]: row for row in rows if row["role"] == "judge"}


def test_judges_are_asked_until_their_order_is_sure(results: dict[str, dict[str, Any]]) -> None:
    full, stopped = agreement(results["full"]), agreement(results["stopped"])
    assert {row["n"] for row in full.values()} == {ITEMS}
    assert max(row["n"] for row in stopped.values()) < ITEMS
    assert list(full) == list(stopped) == ["oracle", "one", "longer"]
    for name, row in stopped.items():
        assert row["asked"] == 12 * row["n"], name  # six pairs, both orders
    worst = stopped["longer"]
    assert worst["agreement"] == 0
    ends = betting_ends(np.zeros(worst["n"]))
    assert (worst["agreement_low"], worst["agreement_high"]) == pytest.approx(ends)
    said = " ".join(results["stopped"]["notes"])
    assert "Sure (0.95): their order by agreement" in said
    assert "of one look" in said
    assert "of one look" not in " ".join(results["full"]["notes"])


def test_turns_are_those_of_the_verdicts_and_need_labels_of_equal_chance() -> None:
    table = made_raters(20)
    turned, units = in_turn(table, np.ones(20, np.bool_), 0)
    assert sorted(turned.units.turn) == list(range(20))
    assert [int(np.flatnonzero(one)[0]) for one in units] == np.argsort(turned.units.turn).tolist()
    none = table.labels * np.nan
    with pytest.raises(ConfigError, match="needs labels"):
        in_turn(replace(table, labels=none), np.ones(20, np.bool_), 0)
    uneven = replace(table.units, chance=np.linspace(0.1, 1, 20))
    with pytest.raises(ConfigError, match="equally likely"):
        in_turn(replace(table, units=uneven), np.ones(20, np.bool_), 0)


def test_what_the_run_did_not_ask_about_was_not_left_out() -> None:
    """A judge that was right 95 times in 100 got "no verdict on 68 % of the labelled items"."""
    table, _ = in_turn(made_raters(20), np.ones(20, np.bool_), 0)
    judged = table.units.turn < 8
    until = asked_until(table, judged)
    assert left_out(table.units.stratum, judged, until) == 0
    assert left_out(table.units.stratum, judged, table.labelled) == pytest.approx(0.6)
    hole = judged & (table.units.turn != 3)  # in the middle of what was asked: left out
    assert left_out(table.units.stratum, hole, asked_until(table, hole)) == pytest.approx(1 / 8)


def test_value_and_ends_are_of_one_mean() -> None:
    """45 times in 100 (74 to 96): the mean of items between ends of that of clusters."""
    by_cluster = np.array([[0.2, 0.9, 1.0, np.nan]])
    (found,) = at_every_look([Estimate(0.45, 0.3, 0.6, 40)], by_cluster, (0.0, 1.0), 0.95, None)
    assert found.value == pytest.approx(0.7)
    assert found.low <= found.value <= found.high and found.n == 40
