"""``judgelab audit FILE``: the run of Hydra's words, its gate, its JSON; the fixture of pytest."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, Command, only_run, process, result

LABEL = ("fail", "pass")


def table(root: Path, right: float, rows: int = 200, head: str = "human_label,judge_label") -> str:
    """A file of so many texts; the judge says what people say on this share of each class."""
    lines = [f"case_id,output,{head}"]
    for k in range(rows):
        good = k % 2
        said = good if random.Random(k).random() < right else 1 - good
        text = "word " * (3 + random.Random(-k).randrange(20))
        lines.append(f"c{k},{text},{LABEL[good]},{LABEL[said]}")
    file = root / "judged.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_it_is_the_run_of_the_long_command(judgelab: Command, tmp_path: Path) -> None:
    file = table(tmp_path, 0.97)
    done = judgelab("audit", file, "--minimum", ".8", "--positive", "pass", "--details")
    assert done.returncode == 0, done.stderr
    before, folder = result(tmp_path), only_run(tmp_path)
    words = ("study=audit", "dataset=table", f"dataset.path={file}", "dataset.positive=pass")
    more = ("study.rules.minimum=.8", "study.details=true", "tracker=none")
    again = judgelab(*words, *more)
    assert "Finished before" in again.stdout and only_run(tmp_path) == folder
    assert result(tmp_path) == before
    line = (
        "id: case_id; text: output; labels of people: human_label; verdicts of judges: judge_label"
    )
    assert line in " ".join(done.stdout.split()) and line in (folder / "report.html").read_text()


@pytest.mark.parametrize(("right", "rows", "code"), [(0.97, 200, 0), (0.5, 200, 4), (0.9, 20, 5)])
def test_a_pipeline_stops_at_the_verdict(
    judgelab: Command, tmp_path: Path, right: float, rows: int, code: int
) -> None:
    words = ("audit", table(tmp_path, right, rows), "--minimum", ".8")
    assert judgelab(*words).returncode == 0
    done = judgelab(*words, "--gate", "--json")
    assert done.returncode == code, done.stderr
    told = json.loads(done.stdout)
    assert told["verdicts"]["judge"] == {0: "use", 4: "do not use", 5: "not known yet"}[code]
    one = told["figures"]["best_agreement"]
    assert one["low"] < one["value"] < one["high"] and one["n"] == rows
    assert Path(told["page"]).is_file() and told["sentence"] == result(tmp_path)["title"]


def test_of_several_judges_the_worst_counts(judgelab: Command, tmp_path: Path) -> None:
    file = Path(table(tmp_path, 0.97))
    head, *rows = file.read_text().splitlines()
    good = [f"{head},gpt_verdict", *(f"{row},{LABEL[k % 3 == 0]}" for k, row in enumerate(rows))]
    file.write_text("\n".join(good))
    words = ("audit", str(file), "--minimum", ".8", "--gate")
    assert judgelab(*words).returncode == 4
    assert judgelab(*words, "--judge", "judge_label").returncode == 0


def test_two_readings_are_two_commands(judgelab: Command, tmp_path: Path) -> None:
    """What is refused offers complete commands, and each is understood."""
    file = table(tmp_path, 0.97, head="label,judge")
    done = judgelab("audit", file, "--minimum", ".8", "--", "study.rules.labels=20")
    assert done.returncode == 1 and done.stdout == ""
    commands = [shlex.split(one) for one in re.findall(r"python run.py (.*)", done.stderr)]
    assert len(commands) == 2 and "--judge" in commands[0] and "--human" in commands[0]
    assert judgelab(*commands[0]).returncode == 0
    assert "Nobody labelled anything" in judgelab(*commands[1]).stderr
    long = judgelab("study=audit", "dataset=table", f"dataset.path={file}", "tracker=none")
    assert "dataset.judges=[judge]" in long.stderr and "study=audit" in long.stderr


def test_faults_end_in_one_sentence(judgelab: Command, tmp_path: Path) -> None:
    file = table(tmp_path, 0.97)
    for words, said in (
        (("--judge", "judge_lable"), "Did you mean 'judge_label'"),
        (("--", "study.ruls.minimum=1"), "Did you mean 'study.rules"),
        (("--", "-m"), "KEY=VALUE"),
        (("--", "hydra.run.dir=x"), "paths.root=FOLDER"),
    ):
        done = judgelab("audit", file, *words)
        assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    done = judgelab("audit", "nowhere.csv", "--json")
    assert done.returncode == 1 and "nowhere.csv" in json.loads(done.stdout)["error"]
    done = judgelab("audit", str(file), "--minimum", "80%", "--json")
    assert done.returncode == 1 and "80%" in json.loads(done.stdout)["error"]


def test_runs_stand_beside_each_other(judgelab: Command, tmp_path: Path) -> None:
    file = table(tmp_path, 0.9)
    for minimum in (".7", ".95"):
        judgelab("audit", file, "--minimum", minimum)
    runs = [str(run) for run in (tmp_path / "runs").iterdir()]
    done = judgelab("compare", *runs)
    assert done.returncode == 0 and "Comparison of 2 runs" in done.stdout
    told = json.loads(judgelab("compare", *runs, "--json").stdout)
    assert len(told["runs"]) == 2 and told["page"] is None


OWN_TEST = """
def test_good(judge_audit):
    judge_audit({good!r}, minimum=.8).assert_usable()

def test_bad(judge_audit):
    judge_audit({bad!r}, minimum=.8, judges="judge_label").assert_usable()
"""


PLUGIN = "judgelab.command.pytest_plugin"


def test_a_test_of_pytest_holds_a_judge_to_its_bar(tmp_path: Path) -> None:
    for name, right in (("good", 0.97), ("bad", 0.5)):
        (tmp_path / name).mkdir()
        table(tmp_path / name, right)
    files = {name: str(tmp_path / name / "judged.csv") for name in ("good", "bad")}
    (tmp_path / "test_judge.py").write_text(OWN_TEST.format(**files))
    named = {one.value for one in entry_points(group="pytest11")}  # an installed wheel names it
    plugin = [] if PLUGIN in named else ["-p", PLUGIN]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, "test_judge.py"]
    path = os.environ.get("PYTHONPATH", str(ROOT))
    done = process(tmp_path, command, cwd=tmp_path, PYTHONPATH=path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "AssertionError: Do not use judge_label" in done.stdout
    assert 'judgelab = "judgelab.command.pytest_plugin"' in (ROOT / "pyproject.toml").read_text()


def test_texts_without_labels_are_screened(judgelab: Command, tmp_path: Path) -> None:
    things = [f"{a}{b}" for a in ("bridge", "school", "library", "harbour") for b in range(5)]
    says = {"one": "We saw {} and nothing more of it.", "two": "Of all that is there {} is old."}
    rows = ["case_id,model,output"]
    others = {"three": "They sold {} to us last year.", "dull": "It is so."}
    for name, text in (says | others).items():
        rows += [f"{k},{name},{text.format(thing)}" for k, thing in enumerate(things)]
    file = tmp_path / "outputs.csv"
    file.write_text("\n".join(rows))
    done = judgelab("screen", str(file), "--agent", "model", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["sentence"] == result(tmp_path)["title"]
    for heading, text in result(tmp_path)["answer"]:  # of several under one heading each
        assert text in told["answer"][heading]
    assert [told["verdicts"][name] for name in says] == ["says something"] * 2
    assert told["verdicts"]["dull"] in ("says nothing that could be seen", "not known")


def test_a_shell_completes_verbs_and_their_options(judgelab: Command) -> None:
    script = judgelab("completion").stdout
    for words, wanted in (("judgelab au", "audit"), ("judgelab audit --jud", "--judge")):
        place = len(words.split()) - 1
        asked = f"COMP_WORDS=({words}); COMP_CWORD={place}; _judgelab; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == wanted
