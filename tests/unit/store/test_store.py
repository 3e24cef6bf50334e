"""Run directories and fingerprints."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgelab.core.errors import JudgelabError
from judgelab.store import fingerprint as fingerprint_module
from judgelab.store.fingerprint import code_digest, fingerprint
from judgelab.store.private import Owner
from judgelab.store.run_dir import RunDir

CONFIG = {"seed": 0, "mechanism": {"_target_": "x", "per": "token"}, "paths": {"root": "a"}}


def test_what_cannot_change_a_number_does_not_change_the_fingerprint() -> None:
    base = fingerprint(CONFIG)
    same = {**CONFIG, "paths": {"root": "b"}, "force": True, "tracker": {"mode": "online"}}
    workers = {**CONFIG, "mechanism": {**CONFIG["mechanism"], "workers": 7}}  # type: ignore[dict-item]
    assert fingerprint(same) == fingerprint(workers) == base
    assert fingerprint({**CONFIG, "seed": 1}) != base


def test_source_of_ones_own_class_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    source = tmp_path / "my_idea_of_novelty.py"
    own = {**CONFIG, "mechanism": {"_target_": "my_idea_of_novelty.Novelty"}}
    absent = fingerprint(own)
    source.write_text("class Novelty: ...\n")
    importlib.invalidate_caches()
    before = fingerprint(own)
    listing = {**CONFIG, "mechanism": {"parts": [{"_target_": "again.Novelty"}]}}
    unknown = fingerprint(listing)
    (tmp_path / "again.py").write_text("from my_idea_of_novelty import Novelty as Novelty\n")
    source.write_text("class Novelty: better = True\n")
    assert len({absent, before, fingerprint(own)}) == 3
    importlib.invalidate_caches()
    assert fingerprint(listing) != unknown, "in a list, and by another name"


def test_named_files_prices_and_the_run_that_trained_a_judge_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, prices, trained = (tmp_path / name for name in ("panel.jsonl", "prices.yaml", "run"))
    trained.mkdir()
    named = {"dataset": {"path": str(data)}, "study": {"train_run": str(trained)}}
    config, found = {**CONFIG, **named, "budget": {"prices": str(prices)}}, set()
    for file in (trained / "DONE", data, prices, trained / "result.json"):
        for text in ("a", "bb"):
            file.write_text(text)
            found.add(fingerprint(config))
    assert len(found) == 8
    assert all((fingerprint_module.conf() / name).is_file() for name in fingerprint_module.PRICES)
    monkeypatch.setattr(fingerprint_module, "conf", lambda: tmp_path)
    shipped, own = tmp_path / "papers" / "numbers" / "table_1.csv", tmp_path / "own.csv"
    shipped.parent.mkdir(parents=True)
    for table, name in ((shipped, shipped.name), (own, str(own))):
        for text in ("statistic,value\nauc,.6", "statistic,value\nauc,.7"):
            table.write_text(text)
            found.add(fingerprint({**CONFIG, "printed": name}))
    assert len(found) == 12


def test_a_folder_that_is_no_finished_run_is_not_looked_through(tmp_path: Path) -> None:
    config = {"study": {"run": str(tmp_path)}}
    found = []
    for name in ("some.bin", "more.bin", "DONE", "result.json"):
        (tmp_path / name).write_text(name)
        found.append(fingerprint(config))
    assert found[0] == found[1], "home folders hold more than one would list; the study refuses it"
    assert len(set(found[1:])) == 3, "files of a run count"


def test_json_is_written_whole_sorted_and_without_nan(tmp_path: Path) -> None:
    run = RunDir(tmp_path / "run")
    path = run.write_json("r.json", {"b": 1, "a": "ü"})
    assert path.read_text(encoding="utf-8") == '{\n "a": "ü",\n "b": 1\n}\n'
    with pytest.raises(ValueError, match="Out of range"):
        run.write_json("r.json", {"a": float("nan")})
    assert run.read_json("r.json") == {"b": 1, "a": "ü"}  # the old file survives the fault
    path.write_text("{")
    with pytest.raises(JudgelabError, match="force=true"):
        run.read_json("r.json")
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["r.json"]


def test_a_directory_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    run = RunDir(tmp_path / "run")
    with run.lock(), pytest.raises(JudgelabError, match="Another process"), run.lock():
        pass
    with run.lock():
        run.finish()
        assert run.is_done
        run.reopen()
        assert not run.is_done


def test_what_a_dead_process_left_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    stale = [tmp_path / ".result.json.12345.part"]
    stale.append(tmp_path / "records" / f".pairs.parquet.{os.getpid()}.part")
    kept = [tmp_path / ".model.part"]
    for path in (*stale, *kept):
        path.write_text("half")
    with RunDir(tmp_path).lock():
        assert [path.exists() for path in (*stale, *kept)] == [False, False, True]


def test_only_our_kinds_of_files_are_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint_module, "PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text("1")
    before = code_digest()
    (tmp_path / "__pycache__").mkdir()
    for name in ("__pycache__/a.cpython-311.pyc.140231", ".a.py.swp", "report.html"):
        (tmp_path / name).write_text("2")
    assert code_digest() == before
    (tmp_path / "words.yaml").write_text("3")
    assert code_digest() != before


HOLDER = """
import sys, time
from pathlib import Path
from judgelab.store.private import Owner
print(Owner(Path(sys.argv[1])).name, flush=True)
time.sleep(60)
"""


def test_an_owner_lives_until_its_process_is_killed(tmp_path: Path) -> None:
    me, folder = Owner(tmp_path / "owners"), tmp_path / "owners"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        other = process.stdout.readline().strip()
        assert me.lives(other) and me.lives(other) and me.lives(me.name)
        process.kill()
    assert not me.lives(other)
    assert not (folder / other).exists(), "what it left is removed"
    assert not me.lives("../../etc/passwd")
    me.close()
    assert not list(folder.iterdir())
