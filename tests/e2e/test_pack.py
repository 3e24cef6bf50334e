"""Whoever has no LM makes a packed run again, to the same bytes; nothing of a key is in a pack."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.engine.packing import END, pack, replay
from tests.e2e.conftest import Command, only_run

KEY = "sk-a-key-that-must-not-leave"


@pytest.fixture
def made(judgelab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    panel = tmp_path / "panel.csv"
    rows = [
        f"i{k},source {k} is about {k * 'very '}odd things,{agent},{agent} says {k} {agent}"
        for k in range(3)
        for agent in ("a", "b")
    ]
    panel.write_text("\n".join(["id,source,agent,text", *rows, ""]))
    words = ("mechanism=mi", "dataset=table", f"dataset.path={panel}")
    done = judgelab(*words, "tracker=none")
    assert done.returncode == 0, done.stderr
    return only_run(tmp_path)


def test_a_pack_is_replayed_to_the_same_bytes(made: Path, tmp_path: Path) -> None:
    whole = pack(made, texts=True)
    with zipfile.ZipFile(whole) as zipped:
        held = b"".join(zipped.read(name) for name in zipped.namelist())
        assert "data/panel.csv" in zipped.namelist()
    assert KEY.encode() not in held
    (tmp_path / "panel.csv").unlink()  # what was put in is enough
    assert replay(whole, tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="in no single file"):
        pack(made, texts=True)


def test_a_result_that_was_changed_is_told_apart(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, forged = pack(made), tmp_path / f"forged{END}"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            new.writestr(name, raw.replace(b'"items": 3', b'"items": 4') if "res" in name else raw)
    assert not replay(forged, tmp_path / "elsewhere")
    assert "Another result: items differ." in capsys.readouterr().out


def test_a_finished_run_in_a_pack_is_not_believed(made: Path, tmp_path: Path) -> None:
    whole, forged = pack(made), tmp_path / f"forged{END}"
    assert replay(whole, tmp_path / "first")
    run = only_run(tmp_path / "first" / made.name)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            changed = old.read(name).replace(b'"items": 3', b'"items": 4')
            new.writestr(name, changed if name == "result.json" else old.read(name))
            if name == "result.json":
                new.writestr(f"runs/{run.name}/result.json", changed)
        new.writestr(f"runs/{run.name}/DONE", "")
    assert not replay(forged, tmp_path / "second")
    assert not replay(forged, tmp_path / "second")  # nor what an earlier replay left


def test_what_cannot_be_packed_or_replayed_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no finished run"):
        pack(tmp_path)
    with pytest.raises(ConfigError, match="is no pack of a run"):
        replay(tmp_path / "panel.csv", tmp_path)
    (tmp_path / "cache" / "calls.sqlite").unlink()
    with pytest.raises(DataError, match="cannot be opened|lacks"):
        pack(made)
    whole = pack_of_nothing(tmp_path, made)
    with pytest.raises(DataError, match="The pack holds no answer of compression"):
        replay(whole, tmp_path / "elsewhere")


def pack_of_nothing(tmp_path: Path, made: Path) -> Path:
    """A pack whose calls are gone."""
    import yaml

    from judgelab.calls.cache import CallCache
    from judgelab.engine.packing import CALLS, CONFIG, RESULT, _with_stand_ins

    config = yaml.safe_load((made / "config.yaml").read_text())
    CallCache(tmp_path / CALLS).close()
    whole = tmp_path / f"empty{END}"
    with zipfile.ZipFile(whole, "w") as zipped:
        zipped.writestr(CONFIG, json.dumps(_with_stand_ins(config) | {"choices": {}}))
        zipped.write(tmp_path / CALLS, CALLS)
        zipped.write(made / "result.json", RESULT)
    return whole
