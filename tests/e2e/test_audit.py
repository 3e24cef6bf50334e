"""study=audit on a user's own table, with judges of known faults behind a server."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import judgelab
from judgelab.core.errors import PartialRunError
from tests.documented import commands as commands_of
from tests.e2e.conftest import ROOT, environment
from tests.reports import write_csv
from tests.servers.judging import JUDGES
from tests.servers.process import scripted

OTHERS = ("padding", "pattern", "repetition", "authority", "instruction")
PARTS = ["gate", "agreement", "estimate", "exchange", "biases", "manipulation"]
WANTED = {
    "oracle": ("trust", r"agrees enough: .*people agree with each other.*not fall for format"),
    "noisy": ("trust after correction", "saves labels: "),
    "lengthy": (
        "do not trust",
        r"no better than a control: .*of quality \(longer\)",
    ),
    "first": ("do not trust", "no better than a control: .*takes the text that is shown first 100"),
    "markers": ("do not trust", "falls for manipulation: .*format makes the same text win"),
    "garbage": ("cannot say yet", "replies without a verdict: 100 % of its replies hold no"),
}


AUDIT = ROOT / "conf" / "study" / "audit.yaml"
START = ROOT / "docs" / "start"
DOCS = (START / "own_judges.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Of docs/start/own_judges.md, as a reader would copy them."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", DOCS, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(text) for _, text in found]


def entries(url: str) -> list[dict[str, Any]]:
    """Of judges.yaml."""
    shared = {
        "evaluation_lm": "openai",
        "evaluation_lm.base_url": url,
        "evaluation_lm.server": "scripted",
        "evaluation_lm.api_key_env": None,
        "evaluation_lm.limits.breaker": None,
    }
    return [{"name": name, "evaluation_lm.model": name, **shared} for name in JUDGES]


@pytest.mark.slow
def test_judges_of_known_faults_get_the_verdicts_they_deserve(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv")
    with scripted(tmp_path / "server") as server:
        found = judgelab.audit(
            tmp_path / "labels.csv",
            entries(server.url),
            parts=PARTS,
            paths__root=str(tmp_path),
            questions={"manipulation": {"probes": dict.fromkeys(OTHERS), "items": 60}},
        )
    assert found is not None
    assert set(found.verdicts) == set(WANTED)
    for _, row in found.tables["verdicts"].iterrows():
        verdict, why = WANTED[row["judge"]]
        said = f"{row['because']}: {row['why']}"
        assert (row["verdict"], bool(re.search(why, said))) == (verdict, True), said


@pytest.mark.slow
def test_every_command_of_the_docs_runs(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", 8)
    with scripted(tmp_path / "server") as server:
        (judges,) = blocks("yaml")
        judges = judges.replace("http://localhost:8000/v1", server.url)
        (tmp_path / "judges.yaml").write_text(judges.replace("small-model", "oracle"))
        commands = [line for block in blocks("bash") for line in block.splitlines()]
        assert len(commands) == 3
        assert commands[0] in (ROOT / "README.md").read_text(encoding="utf-8")  # and run there
        commands[2] += " study.parts=[gate,biases]"  # seconds instead of minutes
        outputs = [called(tmp_path, shlex.split(command)[2:]) for command in commands[1:]]
        assert "All together" in outputs[0]
        assert "small, graded" in outputs[1]
        stops = commands_of(ROOT / "docs/howto/stopping.md")[-1]
        assert "study.stop.order=.95" in stops
        words = shlex.split(f"{stops} study.parts=[gate,agreement]")[2:]
        assert "could stop after every batch" in " ".join(called(tmp_path, words).split())
        (code,) = blocks("python")
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"'([^']+)': '", done.stdout.splitlines()[0])) == {
        *("small", "small, graded", "rouge")
    }


def called(folder: Path, words: list[str]) -> str:
    """What run.py prints, called from a user's folder."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *words, "tracker=none"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_docs_name_every_verdict_and_part() -> None:
    """By the page's own words."""
    docs = (START / "verdict.md").read_text(encoding="utf-8")
    rules = (ROOT / "judgelab" / "study" / "audit" / "verdict.py").read_text(encoding="utf-8")
    reasons = set(re.findall(r'TrustVerdict\(\s*"[^"]+", "([^"]+)"', rules))
    unfit = rules[rules.index("def _unfit") : rules.index("def _here")]
    reasons |= {word for word in re.findall(r'"([a-z ]+)"', unfit) if word} | {"too few labels"}
    assert len(reasons) > 8 and all(f"| {reason} |" in docs for reason in reasons)
    parts = re.findall(r"^  (\w+):\n    _target_", AUDIT.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(parts) > 8 and all(f"| `{part}` |" in docs for part in parts)


@pytest.mark.slow
def test_a_budget_stops_all_judges_and_a_larger_one_continues_them(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", 12)
    given: dict[str, Any] = {"parts": ["gate", "agreement", "manipulation"]}
    given["questions"] = {"manipulation": {"probes": dict.fromkeys(OTHERS)}}

    def audited(root: str, **more: Any) -> Any:
        judges = entries(server.url)[:2]
        place = {"paths__root": str(tmp_path / root)}
        return judgelab.audit(tmp_path / "labels.csv", judges, **place, **given, **more)

    with scripted(tmp_path / "server") as server:
        calm = audited("calm")
        asked = len(server.seen())
        with pytest.raises(PartialRunError, match=r"PARTIAL: \d+ of \d+ calls are open") as stopped:
            audited("stormy", budget={"max_calls": 30})
        assert stopped.value.run is not None
        assert (stopped.value.run / "report.html").exists()
        assert sum(server.seen().values()) == asked + 30
        again = audited("stormy")
        assert sum(server.seen().values()) == 2 * asked, "no call is paid twice"
    assert (again.path / "result.json").read_bytes() == (calm.path / "result.json").read_bytes()
