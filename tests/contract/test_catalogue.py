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
