"""Judged calls in Weave: what arrives at a server on this machine, and what is said without one."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from judgelab.core.result import Result
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import TrackedRun
from judgelab.tracker.weave import WeaveTracker, main, payload, sent
from tests.unit.report.item_records import scored_run
from tests.unit.tracker.test_wandb import KEY, clear
from tests.weave_server import WeaveServer, serving

SECRET = "sk-canary-0123456789"
needs_weave = pytest.mark.skipif(
    importlib.util.find_spec("weave") is None, reason="the extra weave is not installed"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    """Two texts: one call with its grade and a person's, one that was refused."""
    clear(monkeypatch, tmp_path)
    texts = [
        {"item": "q", "agent": "a", "text": "fog", "score": 4.0},
        {"item": "q", "agent": "b", "text": "keel", "score": float("nan")},
    ]
    replies = [
        {"item": "q", "agent": "a", "reply": f"4, says {SECRET}", "prompt": "Grade: fog"},
        {"item": "q", "agent": "b", "reason": "refused", "prompt": "Grade: keel"},
    ]
    folder = tmp_path / "runs" / "mi-xsum-none-abc"
    found = scored_run(folder, texts, {"q": "source"}, [("q", "a", "ana", 5.0)], replies)
    config = "tracker: {_target_: t, project: mine, entity: team}\n"
    found.write_text("config.yaml", config)
    return found


@needs_weave
@pytest.mark.slow
def test_each_call_arrives_with_prompt_reply_scores_and_reason(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One evaluation, named as the run, with its summary, linked to its W&B run; no key in it."""
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("my_api_key_2", SECRET)
    monkeypatch.setenv("DB_PASS", "12345678")  # a number in a row stays one
    monkeypatch.chdir(run.path.parent)
    result = Result.read(run.path)
    told = TrackedRun(run.path, {}, "sweep-1", "mi · padding", {"attack": "padding"})
    asked = payload(told, result, "team/mine") | {"wandb_run": "r1"}
    server = WeaveServer()
    with serving(server) as address:
        monkeypatch.setenv("WANDB_BASE_URL", address)
        monkeypatch.setenv("WF_TRACE_SERVER_URL", address)
        place = sent(asked, run.path, "online", 10)
    [whole] = server.of("Evaluation.evaluate")
    assert place == f"Weave: {address}/team/mine/r/call/{whole['id']} (2 judgments)"
    assert (whole["display_name"], whole["wb_run_id"]) == ("mi · padding", "team/mine/r1")
    about = {"run": run.path.name, "sweep": "sweep-1", "axes": {"attack": "padding"}}
    assert whole["attributes"]["judgelab"] == about
    summary = whole["output"]["output"]
    assert summary["clean/auc"] == summary["primary"] == result.summary["clean/auc"]
    assert whole["output"]["unscored"] == {"true_count": 1, "true_fraction": 0.5}
    assert whole["output"]["score"] == {"mean": 4.0}  # the refused call is no 0
    graded, refused = server.of("Evaluation.predict_and_score")
    assert {graded["parent_id"], refused["parent_id"]} == {whole["id"]}
    shown = {"panel": "clean", "judge": "mi", "item": "q", "agent": "a", "prompt": "Grade: fog"}
    assert graded["inputs"]["example"] == shown
    assert graded["output"]["output"] == {"reply": "4, says ***", "reason": ""}
    assert graded["output"]["scores"] == {"score": 4.0, "people": 5.0, "unscored": False}
    assert refused["output"]["output"]["reason"] == "refused"
    assert refused["output"]["scores"] == {"unscored": True}
    assert len(server.of("Model.predict")) == 2
    assert server.objects["mi"]["_bases"][0] == "Model"
    assert len(server.keys) == 1
    assert not [key for key in (KEY, SECRET) if key.encode() in server.everything]
    assert [one.name for one in run.path.parent.iterdir()] == [run.path.name]  # no file of Weave's


@needs_weave
@pytest.mark.slow
def test_calls_that_a_server_refuses_are_told(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    server = WeaveServer(refuse="calls/complete")
    with serving(server) as address:
        monkeypatch.setenv("WANDB_BASE_URL", address)
        monkeypatch.setenv("WF_TRACE_SERVER_URL", address)
        with pytest.raises(SystemExit, match=r"not all of 2 .*no place left.*the run is"):
            main([str(run.path)])
    assert not server.of("Evaluation.predict_and_score")


@needs_weave
@pytest.mark.slow
def test_a_server_out_of_reach_is_one_sentence(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(SystemExit, match=r"not all of 2 .*\(.*Conn.*\); .* sent again by"):
        main([str(run.path)])


@pytest.mark.slow
def test_offline_the_run_is_in_wandb_and_its_calls_wait_for_a_command(
    run: RunDir, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = WeaveTracker().follow(TrackedRun(run.path, {}, None, "mi"))
    place = mirror.publish(Result.read(run.path))
    assert place is not None
    assert place.startswith(str(run.path.parent.parent / "wandb" / "offline-run-"))
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("warning: Weave: 2 judgments not sent, as W&B is offline")
    assert said.endswith(f"python -m judgelab.tracker.weave {run.path}")


def test_without_credentials_or_package_the_command_says_what_it_would_send(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="2 judgments not sent, as W&B is offline"):
        main([str(run.path)])
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install -e '\.\[weave\]'"):
        main([str(run.path)])
    with pytest.raises(SystemExit, match="is not the folder of a finished run"):
        main([str(run.path.parent)])


def test_a_run_is_sent_to_the_project_of_its_config(run: RunDir) -> None:
    told = TrackedRun(run.path, {}, None, "mi")
    asked = payload(told, Result.read(run.path), "team/mine")
    assert json.loads(json.dumps(asked, allow_nan=False)) == asked
    assert [call["scores"]["unscored"] for call in asked["calls"]] == [False, True]
