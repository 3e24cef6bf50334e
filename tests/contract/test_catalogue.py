"""docs/reference is what configs and docstrings say; the commands of its tables compose."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from experiments import catalogue
from judgelab.config import frame, resolved
from judgelab.config.composing import composed
from judgelab.engine.context import build_parts
from tests.browser import looked_at

OPTIONS = [one for axis in catalogue.AXES for one in catalogue.options(axis)]


@pytest.mark.parametrize("page", catalogue.pages(), ids=lambda path: path.stem)
def test_a_page_is_what_the_configs_say(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert said == catalogue.page(page), f"stale: {catalogue.REFRESH}"


def test_every_setting_says_what_it_means() -> None:
    for page in (catalogue.DOCS / "reference").glob("*.md"):
        silent = re.findall(r"^- `(.*?)`.*: *$", page.read_text("utf-8"), re.MULTILINE)
        assert not silent, "comment in the YAML, Args of its class, or experiments/meanings.yaml"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: f"{one.axis}={one.name}")
def test_an_option_has_a_line_and_a_command_that_builds(option: catalogue.Option) -> None:
    words = shlex.split(option.command)
    assert words[:2] == ["python", "run.py"]
    assert f"{option.axis}={option.name}" in words or option.name in words[-1], "it shows it"
    assert 10 <= len(option.what) <= 150 and not option.what.endswith("."), "one short sentence"
    config = resolved(composed(words[2:]))
    frame(config)
    build_parts(config)


ROOT = Path(__file__).resolve().parents[2]
SITE = Path(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["site_dir"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of docs/, and its site."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    pytest.importorskip("zensical", reason="the extra docs is not installed: make docs")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


FETCHED = re.compile(r'<(?:img|script|iframe|source)[^>]* src="([^"]+)|<link[^>]* href="([^"]+)')


def test_every_page_is_built_and_fetches_nothing_from_elsewhere(site: Path) -> None:
    """The build is strict: a link that leads nowhere is an error."""
    files = list((site / SITE).resolve().rglob("*.html"))
    assert len(files) == len(list((site / "docs").rglob("*.md"))) + 1  # 404.html
    for file in files:
        for found in FETCHED.findall(file.read_text(encoding="utf-8")):
            assert not re.match(r"(?:https?:)?//", "".join(found)), (file.name, found)


@pytest.mark.parametrize("width", [1400, 400])
def test_wide_tables_scroll_and_pages_do_not(site: Path, width: int) -> None:
    page = site / SITE / "definitions.html"
    js = "return [document.documentElement.scrollWidth, document.querySelectorAll('table').length]"
    across, tables = looked_at(page, js, width)
    assert across <= width
    assert tables > 2
