"""docs/reference is what configs and docstrings say; the commands of its tables compose."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from experiments import catalogue
from judgelab.config import frame, resolved
from judgelab.config.composing import composed
from judgelab.engine.parts import build_parts
from judgelab.engine.run import execute

RUN = [  # some of every axis that need no more than seconds
    "study=symmetry",
    "mechanism=acu_rating",
    "mechanism=rating",
    "mechanism=recorded_scores",
    "attack=random_replacement",
    "attack=sentence_deletion",
    "attack=wrong_ending",
    "evaluation_lm=llama33_70b",
]
SHORT = ["limit=4", "tracker=none"]
OPTIONS = [one for axis in catalogue.AXES for one in catalogue.options(axis)]


@pytest.mark.parametrize("page", catalogue.made(), ids=lambda path: path.stem)
def test_a_page_is_what_the_configs_say(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert said == catalogue.page(page), f"stale: {catalogue.REFRESH}"


def test_every_setting_says_what_it_means() -> None:
    for page in (catalogue.DOCS / "reference").glob("*.md"):
        silent = re.findall(r"^- `(.*?)`.*: *$", page.read_text("utf-8"), re.MULTILINE)
        assert not silent, (
            "a comment in the YAML, or Args of its class, or experiments/meanings.yaml"
        )


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: f"{one.axis}={one.name}")
def test_an_option_has_a_line_and_a_command_that_builds(option: catalogue.Option) -> None:
    words = shlex.split(option.command)
    assert words[:2] == ["python", "run.py"]
    assert f"{option.axis}={option.name}" in words or option.name in words[-1], "it shows it"
    assert 10 <= len(option.what) <= 150 and not option.what.endswith("."), "one short sentence"
    config = resolved(composed(words[2:]))
    frame(config)
    build_parts(config)


@pytest.mark.slow
@pytest.mark.parametrize("choice", RUN)
def test_a_command_runs(
    choice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    [option] = [one for one in OPTIONS if f"{one.axis}={one.name}" == choice]
    words = [*shlex.split(option.command)[2:], *SHORT, f"paths.root={tmp_path}"]
    execute(composed(words))
    said = capsys.readouterr().out
    dry = "dry_run=true" in words
    assert ("nothing was asked" in said) == dry
    assert len(list(tmp_path.glob("runs/*/result.json"))) == (0 if dry else 1)
