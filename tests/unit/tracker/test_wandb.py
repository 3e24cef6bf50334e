"""The W&B tracker, in real offline runs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import wandb

from judgelab.core.estimator import Estimator
from judgelab.core.result import Headline, PageSection, Result, Table
from judgelab.tracker.protocol import TrackedRun, TrackedSweep
from judgelab.tracker.wandb import WandbTracker, credentials_mode
from tests.wandb_file import Seen
from tests.wandb_file import finished as ended

PEOPLE = [Headline("clean/human_spearman", "Rank correlation", people=True)]
KEY = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def finished(tmp_path: Path) -> tuple[TrackedRun, Result]:
    folder = tmp_path / "runs" / "mi-xsum-none-abc"
    (folder / "records").mkdir(parents=True)
    for name in (
        *("clean_texts", "source_texts", "clean_reply_texts", "unscored", "judgments"),
        "clean_labels",
    ):
        (folder / "records" / f"{name}.parquet").write_text("a private text")
    for name in ("items.html", "label.html", "calls.jsonl", "records/clean_scores.parquet"):
        (folder / name).write_text("a private text")
    (folder / "tables").mkdir()
    (folder / "tables" / "where.csv").write_text("item\na private text")
    table = Table("t", "A table", [{"a": 1, "b": "x"}, {"a": float("nan"), "b": None}])
    judges = [{"judge": "gpt", "verdict": "use", "agreement": 0.8}]
    judges[0] |= {"agreement_low": 0.7, "agreement_high": 0.9}
    rows = [{"judge": "gpt"}, {"item": "a private text", "judge": "gpt"}]
    single = Table("where", "Where they differ", rows)
    summary = {"clean/auc": 0.7, "clean/auc_low": 0.6, "clean/auc_high": 0.8}
    summary |= {"clean/human_spearman": 0.3, "study": "discrimination"}
    by = Estimator("mi", "m", "m x", "chat", "counted", "none", "", "none", "fp32", "", "corrected")
    facts = {"clean": {"dataset": "xsum", "digest": "d8", "file": "/home/somebody/x.jsonl"}}
    facts["clean"] |= {"raters": ["a private text"], "columns_not_read": ["a private text"]}
    result = Result(
        summary,
        "clean/auc",
        [Table("judges", "Judges", judges), table, single],
        notes=["Read from /home/somebody/x.jsonl."],
        estimators=[by],
        provenance=facts,
        headlines=PEOPLE,
    )
    (folder / "result.json").write_text(json.dumps(result.to_json()))
    (folder / "manifest.json").write_text('{"overrides": ["dataset.path=/a private text"]}')
    return TrackedRun(
        folder,
        {"seed": 0, "path": "a private text/x.csv", "dataset": {"raters": ["a private text"]}},
        "sweep-1",
        "mi",
        {"mechanism": "mi"},
    ), result


def clear(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """No credentials, and no W&B of this process that remembers an earlier test's server."""
    wandb.teardown()
    for name in ("WANDB_MODE", "WANDB_API_KEY", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NETRC", str(home / ".netrc"))
    for name in ("DATA", "CACHE", "CONFIG", "ARTIFACT"):
        monkeypatch.delenv(f"WANDB_{name}_DIR", raising=False)


def test_a_result_that_is_read_back_is_written_alike(finished: tuple[TrackedRun, Result]) -> None:
    run, result = finished
    said = replace(result, answer=[("Found", "It holds.")], sections=[PageSection("Why?", ["t"])])
    made = json.loads(json.dumps(said.to_json()))
    (run.folder / "result.json").write_text(json.dumps(made))
    assert json.loads(json.dumps(Result.read(run.folder).to_json())) == made


def test_offline_run_holds_summary_and_table_but_no_texts(
    finished: tuple[TrackedRun, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after one that W&B refused; with records the folder goes along."""
    clear(monkeypatch, tmp_path)
    run, result = finished
    picture = run.folder / "figures" / "broken.png"
    picture.parent.mkdir()
    picture.write_text("no picture")
    with pytest.raises(Exception, match="broken.png"):
        WandbTracker().follow(run).publish(result)
    picture.unlink()
    many = replace(result, summary={**result.summary, **{f"clean/{k}": k for k in range(150)}})
    place = WandbTracker().follow(run).publish(many)
    assert place is not None
    _, sent = ended(tmp_path)  # the first is the one that W&B refused
    seen = Seen(sent)
    assert (seen.name, seen.group, seen.job_type) == ("mi", "sweep-1", "discrimination")
    assert seen.tags == ["mechanism:mi"]
    assert seen.config["axes"] == {"mechanism": "mi"}
    assert seen.summary["clean/auc"] == seen.summary["primary"] == 0.7
    assert (seen.summary["primary_low"], seen.summary["primary_is"]) == (0.6, "clean/auc")
    assert seen.summary["people"] == 0.3
    assert seen.summary["run"] == run.folder.name
    assert seen.summary["estimator"].startswith("mi with m, chat template, end token counted")
    assert seen.config["estimator"]["end_token"] == "counted"
    assert "run" not in {one.type for one in seen.artifacts}
    assert list(Path(place).rglob("*.table.json"))
    assert seen.summary["judges_by_name"]["gpt"]["verdict"] == "use"
    [drawn] = Path(place).rglob("bars*.table.json")
    assert json.loads(drawn.read_text())["data"][-1][-5:-1] == ["judge: agreement", 0.8, 0.7, 0.9]
    everything = b"".join(p.read_bytes() for p in (tmp_path / "wandb").rglob("*") if p.is_file())
    # W&B's own debug.log stays here; it has the folder of results, which is the test's
    assert b"a private text" not in everything and b"/home/somebody" not in everything
    WandbTracker(records=True).follow(run).publish(many)
    whole = Seen(ended(tmp_path)[-1]).artifacts[-1]
    assert whole.name == run.folder.name
    assert {"records/clean_texts.parquet", "items.html"} <= {
        entry.path for entry in whole.manifest.contents
    }


def test_a_sweep_is_one_run_with_the_comparison(
    finished: tuple[TrackedRun, Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Also where the run has finished since; and W&B recommends nothing of its own."""
    clear(monkeypatch, tmp_path)
    monkeypatch.setitem(sys.modules, "openai", ModuleType("openai"))
    run, result = finished
    place = WandbTracker().follow(run).publish(result)
    (run.folder / "manifest.json").write_text(json.dumps({"tracker": place}))
    (run.folder / "DONE").write_text("")
    folder = tmp_path / "sweeps" / "s"
    folder.mkdir(parents=True)
    (folder / "report.html").write_text("<p>mi tells good from bad</p>")
    (folder / "multirun.yaml").write_text(f"job: {{env_set: {{KEY: {KEY}}}}}")
    rows = [{"name": "mi", "clean/auc": 0.7}, {"name": "gppm", "clean/auc": None}]
    tables = [Table("comparison", "", rows)]
    axes = {"mechanism": ["mi", "gppm"]}
    sweep = TrackedSweep(folder, "sweep-1", axes, tables, {"jobs": 2, "failed": 1})
    shown = WandbTracker().compare(sweep)
    assert shown is not None
    job, whole = sorted(map(Seen, ended(tmp_path)), key=lambda seen: seen.job_type)
    assert (whole.name, whole.group, whole.job_type) == ("sweep-1", job.group, "sweep")
    assert whole.tags == ["sweep", "mechanism"]
    assert (whole.summary["jobs"], whole.summary["failed"]) == (2, 1)
    [compared] = Path(shown).rglob("comparison*.table.json")
    assert json.loads(compared.read_text())["data"] == [["mi", 0.7], ["gppm", None]]
    everything = b"".join(p.read_bytes() for p in (tmp_path / "wandb").rglob("*") if p.is_file())
    assert KEY.encode() not in everything
    assert b"a private text" not in everything
    assert "Detected" not in "".join(capfd.readouterr())


def test_a_server_out_of_reach_means_offline_and_no_key_on_disk(
    finished: tuple[TrackedRun, Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    clear(monkeypatch, tmp_path)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody listens there
    assert credentials_mode() == "online"
    place = WandbTracker(timeout=3).follow(finished[0]).publish(finished[1])
    assert place is not None
    assert "kept offline" in place
    assert "".join(capfd.readouterr()) == ""
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def test_mode_is_of_environment_and_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clear(monkeypatch, tmp_path)
    assert credentials_mode() == "offline"
    (tmp_path / ".netrc").write_text(f"machine api.wandb.ai login user password {KEY}\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert credentials_mode() == "online"
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert credentials_mode() == "disabled"
