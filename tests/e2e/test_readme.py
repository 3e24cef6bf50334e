"""What README and docs say is run, command by command; `make test` is what runs this."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pytest

import judgelab
from tests.documented import COMMANDS, COMPOSED, ELSEWHERE, SHOWN
from tests.e2e.conftest import ROOT, command_line, process
from tests.llmbar_table import write_csv
from tests.real_lm import SMOLLM2, loaded_once
from tests.unit.python.frames import graded

README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN = (ROOT / "docs" / "start" / "own_table.md").read_text(encoding="utf-8")
(SHOWN_PANEL,) = re.findall(r"```json\n(.*?)```", OWN, flags=re.DOTALL)
PANEL = json.loads(SHOWN_PANEL)
PANELS = "\n".join(
    json.dumps(PANEL | {"id": f"q{k}", "source": f"{PANEL['source']} ({k})"}) for k in range(4)
)
TWO = json.dumps(PANEL | {k: dict([*PANEL[k].items()][::2]) for k in ("responses", "human")})
WHICH = (ROOT / "docs" / "howto" / "which_judge.md").read_text(encoding="utf-8")
(LIST,) = re.findall(r"```yaml\n(.*?)```", WHICH, flags=re.DOTALL)
HEAD, *ROWS = re.search(r"```csv\n(.*?)```", OWN, flags=re.DOTALL)[1].splitlines()  # type: ignore[index]
TEXTS = "\n".join([HEAD, *(f"q{k}{row.removeprefix('q1')}" for k in range(4) for row in ROWS)])
RUN = [command for command in COMMANDS if command not in {*ELSEWHERE, *COMPOSED}]
OWN_DATA = " judged.csv"
NOTEBOOK = (ROOT / "docs" / "howto" / "notebook.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of runs and one call cache for all commands, as a reader would have them."""
    return tmp_path_factory.mktemp("readme")


@pytest.fixture(scope="module")
def kept_lm() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.mark.parametrize("command", RUN)
def test_command(command: str, tmp_path: Path, root: Path, request: pytest.FixtureRequest) -> None:
    documented = command
    texts = {"judges.yaml": LIST, "panel.jsonl": PANELS, "two.jsonl": TWO, "texts.csv": TEXTS}
    if "smollm2" in command:
        if not (SMOLLM2 / "config.json").is_file():
            pytest.skip("no SmolLM2 here: make smollm2")
        if "run.py" in command:  # two short texts: seconds instead of minutes
            request.getfixturevalue("kept_lm")
            command = command.replace("dataset=xsum", "dataset=jsonl dataset.path=two.jsonl")
            command += " evaluation_lm.max_tokens=16"
    if " -m " in command and "limit=" not in command:
        command += " limit=4"
    if "path/to/release" in command:
        paper = "auto_pre" if command.startswith("make tables") else "peer_prediction"
        release = request.getfixturevalue("shared_data") / paper  # all of them: tests/released
        command = command.replace("path/to/release", str(release))
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        command = command.replace(name, str(tmp_path / name))
    if command.startswith("make tables"):
        command += f" OUT={tmp_path}/tables.json"
    if OWN_DATA in command:
        write_csv(tmp_path / "judged.csv")
        command = command.replace(OWN_DATA, f" {tmp_path}/judged.csv")
    words = shlex.split(command)
    if words[0] == "judgelab":
        done = command_line(root, *words[1:])
    elif words[:2] == ["python", "run.py"]:
        done = command_line(root, *words[2:], "tracker=none")
    else:
        done = process(root, words)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    if command == "make demo":
        assert list((root / "wandb").glob("offline-run-*")), "W&B goes offline by itself"
    if OWN_DATA in documented:
        (shown,) = re.findall(r"```csv\n(.*?)```", README, re.DOTALL)
        assert shown in (tmp_path / "judged.csv").read_text(encoding="utf-8")
    answer = " ".join(SHOWN.get(documented, "").split())
    assert answer in " ".join(done.stdout.split()), "its page shows the answer"


def test_answers_that_pages_show_are_of_commands_that_run() -> None:
    assert set(RUN) >= set(SHOWN)
    assert len(SHOWN) > 4


TRUST = "trusted_packages=[mine]"
GUIDE = {  # the parts that docs/extending.md adds, in its order, and a command that uses each
    "mechanism/surprise": ["--config-dir", "conf", "mechanism=surprise", TRUST, "attack=padding"],
    "dataset/greetings": ["-m", "study=lengths", "dataset=greetings,xsum"],
    "study/lengths": [],  # as above
    "evaluation_lm/timed": ["mechanism=mi", "evaluation_lm=timed", "dataset=samsum"],
}
OUTSIDE = "mechanism/surprise"


def test_two_files_add_a_part(tmp_path: Path) -> None:
    copy = tmp_path / "judgelab"
    ignore = shutil.ignore_patterns(".git", ".venv", "outputs", "tests", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=ignore)
    guide = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    blocks = (re.findall(f"```{kind}\n(.*?)```", guide, re.DOTALL) for kind in ("python", "yaml"))
    own = tmp_path / "own"  # a folder outside the checkout
    written = []
    for name, code, config in zip(GUIDE, *blocks, strict=True):
        root = own if name == OUTSIDE else copy
        module = own / "mine" / "surprise.py" if name == OUTSIDE else copy / f"judgelab/{name}.py"
        for file, text in ((module, code), (root / "conf" / f"{name}.yaml", config)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        written.append(str(module))
    (own / "mine" / "__init__.py").touch()
    ruff = ["python", "-m", "ruff", "check", "--config", f"{ROOT}/pyproject.toml", *written]
    done = process(tmp_path, ruff, copy)
    assert done.returncode == 0, done.stdout
    found = {}
    for name, words in filter(itemgetter(1), GUIDE.items()):
        start = ["-m", "judgelab"] if name == OUTSIDE else ["run.py"]
        command = ["python", *start, *words, "tracker=none", "limit=4"]
        place = own if name == OUTSIDE else copy
        done = process(tmp_path / name, command, place, PYTHONPATH=str(copy))
        assert done.returncode == 0, done.stderr
        runs = sorted((tmp_path / name / "runs").iterdir())
        found[name] = [json.loads((run / "result.json").read_text()) for run in runs]
    surprise = found[OUTSIDE][0]["summary"]
    assert (surprise["mechanism"], surprise["clean/auc_n"]) == ("surprise", 4)
    assert surprise["unscored_calls"] == 0 and surprise["lm_calls"] > 0
    greetings, study = found["dataset/greetings"]
    assert {"host", "guest"} <= set(re.findall(r"\w+", json.dumps(greetings)))
    low, words, high = (study["summary"][f"words{end}"] for end in ("_low", "", "_high"))
    assert low < words < high
    assert {"agent", "value", "low", "n", "unscored"} <= set(study["tables"][0]["columns"])
    assert json.loads((runs[0] / "manifest.json").read_text())["facts"]["seconds"] > 0


def test_the_code_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGELAB_ROOT", raising=False)
    graded(3).to_csv("labels.csv", index=False)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", NOTEBOOK, re.DOTALL | re.MULTILINE):
        exec(block, names)
    said = capsys.readouterr().out
    assert "astray" in said and "rouge" in said
    assert len(list(Path("outputs/runs").iterdir())) == 2
    rows = re.findall(r"^\| (`.*?) \|", NOTEBOOK, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(?:judgelab\.)?(\w+)", row)}
    assert set(judgelab.__all__) - {"JudgelabError", "__version__"} == named
