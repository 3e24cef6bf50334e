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
from judgelab.stats.sequential.ends import betting_ends
from judgelab.study.audit.stopped import in_turn
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
