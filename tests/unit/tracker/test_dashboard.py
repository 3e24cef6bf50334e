"""The dashboard as W&B's own package builds it, and as it arrives at a server on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.core.result import Headline, Result, Table
from judgelab.study.discrimination.figures import HEADLINES
from judgelab.tracker.dashboard import INTERVALS, PLAN, main
from judgelab.tracker.protocol import SHOWN, bars, headline
from tests.unit.tracker.test_wandb import KEY, clear
from tests.wandb_server import WandbServer, serving

STORED = Path(__file__).with_name("dashboard.yaml")
"""The JSON that is sent, as YAML."""
PEOPLE = [Headline("clean/human_spearman", "Rank correlation", people=True)]
SWEEP = "mechanism × attack on xsum 2d0f23"
SUMMARY = {
    f"{panel}/{statistic}{end}": 0.5
    for panel in ("clean", "attacked", "change")
    for statistic in ("auc", "effect_size", "smd", "human_spearman")
    for end in ("", "_low", "_high", "_n")
}


def test_charts_and_columns_are_of_what_every_run_logs_and_say_whose_texts_were_attacked() -> None:
    """Needs no package: a chart of a column that no run has would stay empty without a word."""
    axes = {"mechanism": "mi", "attack": "padding"}
    judges = [{"judge": "gpt", "agreement": 0.8, "agreement_low": 0.7}]
    result = Result(SUMMARY, "clean/auc", [Table("judges", "", judges)], headlines=PEOPLE)
    drawn = bars(result, "mi", axes)
    charts = [chart for section in PLAN["sections"] for chart in section["charts"]]
    assert {chart["statistic"] for chart in charts} <= {row["statistic"] for row in drawn}
    assert {chart[key] for chart in charts for key in ("rows", "colours")} <= set(drawn[0])
    assert {"value", "low", "high", "statistic"} <= set(drawn[0])
    told = {f"summary:{key}" for key in headline(result)}
    told |= {f"config:axes.value.{axis}" for axis in SHOWN}
    assert set(PLAN["columns"]) <= {"run:displayName", "run:group", *told}
    asked = json.dumps(INTERVALS)
    assert all(f"${{field:{key}}}" in asked for key in ("rows", "colours", "value", "low", "high"))
    said = [(row["statistic"], row["attack"]) for row in drawn]
    assert said[:2] == [("primary", "none"), ("people", "none")]
    assert {("auc", "none"), ("auc", "padding"), ("change of auc", "padding")} <= set(said)


def test_where_nobody_is_good_or_bad_agreement_with_people_is_the_primary_figure() -> None:
    summary = {"clean/auc": None, "clean/human_within": 0.7, "clean/human_within_low": 0.6}
    result = Result(summary, "clean/auc", (), headlines=HEADLINES)
    found = headline(result)
    assert (found["primary"], found["primary_low"]) == (0.7, 0.6)
    assert found["primary_is"] == "clean/human_within"
    drawn = bars(result, "mi", {})
    assert [row["statistic"] for row in drawn] == ["primary", "people", "human_within"]
    assert {row["value"] for row in drawn} == {0.7}
    assert headline(Result({"clean/auc": None}, "clean/auc", ()))["primary_is"] == "clean/auc"


def test_without_credentials_it_says_that_nothing_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clear(monkeypatch, tmp_path)
    main(["somebody/judgelab"])
    assert "nothing was sent" in capsys.readouterr().out


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clear(monkeypatch, tmp_path)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, "wandb_workspaces", None)
    with pytest.raises(SystemExit, match=r"'wandb_workspaces' is not installed.*\[dashboard\]"):
        main(["judgelab"])


@pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning")
def test_what_is_sent_is_what_is_stored_and_saving_twice_leaves_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The package's own JSON, by real calls of W&B's client; ``dashboard.yaml`` is renewed by
    deleting it."""
    pytest.importorskip("wandb_workspaces", reason="the extra dashboard is not installed")
    clear(monkeypatch, tmp_path)
    for name in ("DATA", "CACHE", "CONFIG", "ARTIFACT"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    server = WandbServer([SWEEP, "another's"])
    with serving(server) as address:
        monkeypatch.setenv("WANDB_BASE_URL", address)
        main(["judgelab"])
        first = capfd.readouterr()
        main(["team/judgelab"])
        assert capfd.readouterr().out == first.out
    assert first.err == ""
    assert f"{address}/team/judgelab?nw=judgelab" in first.out
    assert [one["displayName"] for one in server.views.values()] == ["judgelab", SWEEP, "another's"]
    assert json.loads(server.charts["judgelab-intervals"]["spec"]) == INTERVALS
    sent = [_lasting(json.loads(one["spec"])) for one in server.views.values()]
    made = {"workspace": sent[0], "report": sent[1]}
    if not STORED.is_file():
        STORED.write_text(yaml.safe_dump(made, width=120, allow_unicode=True), "utf-8")
    assert made == yaml.safe_load(STORED.read_text(encoding="utf-8"))
    assert "another's" in json.dumps(sent[2]["blocks"])


def _lasting(value: Any) -> Any:
    """Without the identifiers that W&B's package draws at random."""
    if isinstance(value, dict):
        drawn = ("__id__", "id", "entityName")
        return {key: _lasting(inner) for key, inner in value.items() if key not in drawn}
    return [_lasting(inner) for inner in value] if isinstance(value, list) else value
