"""The site as Zensical builds it: links and anchors resolve, nothing is fetched from elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from tests.browser import looked_at

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["site_dir"])
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


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


class Page(HTMLParser):
    """What a page can be entered by, leads to, and loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors, self.links, self.loaded = set[str](), list[str](), list[str]()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.anchors.add(said.get("id") or "")
        if target := said.get("href" if tag == "a" else LOADED.get(tag, "")):
            (self.links if tag == "a" else self.loaded).append(target)


def test_links_and_anchors_resolve_and_nothing_is_fetched(site: Path) -> None:
    files = {file: Page(file) for file in (site / SITE).resolve().rglob("*.html")}
    assert len(files) == len(list((site / "docs").rglob("*.md"))) + 1  # 404.html
    followed = 0
    for file, page in files.items():
        for target in (*page.loaded, *page.links):
            parts = urlsplit(target)
            if file.name == "404.html" or (parts.scheme and target in page.links):
                continue
            assert not (parts.scheme or parts.netloc), f"{file.name} fetches {target}"
            to = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            to = to / "index.html" if to.is_dir() else to
            assert to.is_file(), f"{file.name} -> {target}"
            if parts.fragment and to in files:
                assert unquote(parts.fragment) in files[to].anchors, f"{file.name} -> {target}"
            followed += 1
    assert followed > 1000


@pytest.mark.parametrize("width", [1400, 400])
def test_wide_tables_scroll_and_pages_do_not(site: Path, width: int) -> None:
    page = site / SITE / "definitions.html"
    script = (
        "return [document.documentElement.scrollWidth, document.querySelectorAll('table').length]"
    )
    across, tables = looked_at(page, script, width)
    assert across <= width
    assert tables > 2
