"""The W&B tracker, in real offline runs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.core.estimator import Estimator
from judgelab.core.result import Result, Table
from judgelab.tracker.protocol import TrackedRun
from judgelab.tracker.wandb import WandbTracker, credentials_mode

KEY = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def finished(tmp_path: Path) -> tuple[TrackedRun, Result]:
    folder = tmp_path / "runs" / "mi-xsum-none-abc"
    (folder / "records").mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    for name in ("clean_texts", "unscored"):
        (folder / "records" / f"{name}.parquet").write_text("a private text")
    table = Table("t", "A table", [{"a": 1, "b": "x"}, {"a": float("nan"), "b": None}])
    summary = {"clean/auc": 0.7, "study": "discrimination"}
    by = Estimator("mi", "m", "m x", "chat", "counted", "none", "", "none", "fp32", "", "corrected")
    result = Result(summary, "clean/auc", [table], estimators=[by])
    return TrackedRun(folder, {"seed": 0}, "sweep-1"), result


def clear(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for name in ("WANDB_MODE", "WANDB_API_KEY", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NETRC", str(home / ".netrc"))
    for name in ("DATA", "CACHE", "CONFIG", "ARTIFACT"):
        monkeypatch.delenv(f"WANDB_{name}_DIR", raising=False)


@pytest.mark.slow
def test_offline_run_holds_summary_table_and_artifact_but_no_texts(
    finished: tuple[TrackedRun, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a run with more figures than an artifact takes, and after one that W&B refused."""
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
    until = time.monotonic() + 30  # W&B's service writes behind our back
    written = b""
    while (
        not all(word in written for word in (b"sweep-1", b"token counted"))
        and time.monotonic() < until
    ):
        time.sleep(0.1)
        written = b"".join(p.read_bytes() for p in Path(place).rglob("*.wandb"))
    assert b"clean/auc" in written
    assert b"sweep-1" in written
    assert b"mi with m, chat template, end token counted" in written
    assert b"end_token" in written
    assert list(Path(place).rglob("*.table.json"))
    everything = b"".join(p.read_bytes() for p in (tmp_path / "wandb").rglob("*") if p.is_file())
    assert b"a private text" not in everything


@pytest.mark.slow
def test_a_server_out_of_reach_means_offline_and_no_key_on_disk(
    finished: tuple[TrackedRun, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear(monkeypatch, tmp_path)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody listens there
    assert credentials_mode() == "online"
    place = WandbTracker(timeout=3).follow(finished[0]).publish(finished[1])
    assert place is not None
    assert "kept offline" in place
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def test_mode_follows_environment_and_netrc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear(monkeypatch, tmp_path)
    assert credentials_mode() == "offline"
    (tmp_path / ".netrc").write_text(f"machine api.wandb.ai login user password {KEY}\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert credentials_mode() == "online"
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert credentials_mode() == "disabled"
