"""The site as Zensical builds it: links and anchors resolve, nothing is fetched from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.browser import looked_at

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
    script = (
        "return [document.documentElement.scrollWidth, document.querySelectorAll('table').length]"
    )
    across, tables = looked_at(page, script, width)
    assert across <= width
    assert tables > 2
