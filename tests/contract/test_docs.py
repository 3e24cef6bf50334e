"""README and docs/: links lead somewhere, the site has every page, and both renderers read it."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from experiments import catalogue
from tests.check_faults.__main__ import TRIALS
from tests.conftest import SLOW
from tests.contract.test_floors import trees
from tests.documented import COMMANDS, COMPOSED, ELSEWHERE, PAGES, ROOT
from tests.servers.modes import check
from tests.servers.schedule import Fault

DOCS = ROOT / "docs"
OTHERS = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "experiments").rglob("*.md"))]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PARSER = MarkdownIt("commonmark").enable("table")
LONGEST = 150  # lines of README.md


@cache
def parsed(page: Path) -> list[Token]:
    return PARSER.parse(page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[str]:
    """Targets of links and pictures, but for those of the web."""
    for token in parsed(page):
        for child in token.children or []:
            target = child.attrGet("href") or child.attrGet("src")
            if target and not re.match(r"[a-z]+:", str(target)):
                yield str(target)


@cache
def headings(page: Path) -> list[str]:
    tokens = parsed(page)
    found = (b for a, b in pairwise(tokens) if a.type == "heading_open")
    return ["".join(child.content for child in one.children or []) for one in found]


def site_anchor(heading: str) -> str:
    """As Python-Markdown's toc makes it, of which Zensical and mkdocs make theirs."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def github_anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} -> {target}"
        if anchor:
            for spelt in (site_anchor, github_anchor):
                assert [spelt(one) for one in headings(file)].count(anchor) == 1, target
        if page.is_relative_to(DOCS):
            assert file.is_relative_to(DOCS), f"{page.name} -> {target} is not on the site"


def test_pages_that_code_names_are_there() -> None:
    named = re.compile(r"docs/[\w/]+\.md")
    folders = ("judgelab", "conf", "experiments", "notebooks", "tests")
    files = [f for folder in folders for f in (ROOT / folder).rglob("*")]
    files = [file for file in files if file.suffix in (".py", ".yaml", ".ipynb")]
    found = {page for file in files for page in named.findall(file.read_text(encoding="utf-8"))}
    assert len(found) > 3
    assert not [page for page in found if not (ROOT / page).is_file()]


def test_the_site_has_every_page_once_and_no_plugin() -> None:
    listed = sorted(pages(SITE["nav"]))
    assert listed == sorted(str(page.relative_to(DOCS)) for page in PAGES[1:])
    assert "plugins" not in SITE
    assert SITE["theme"]["font"] is False, "nothing is fetched from elsewhere"
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= LONGEST


def pages(nav: Any) -> Iterator[str]:
    for entry in nav if isinstance(nav, list) else nav.values():
        yield from [entry] if isinstance(entry, str) else pages(entry)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_both_kinds_of_markdown_read_it_alike(page: Path) -> None:
    """What GitHub takes and Python-Markdown does not, or the other way round."""
    lines = page.read_text(encoding="utf-8").splitlines()
    depth = 0
    for token in parsed(page):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            start = token.map[0] if token.map else 0
            before = lines[start - 1].strip()
            first = depth == 0 and (not before or before[0] == "#")
            assert first or lines[start].startswith("    "), f"line {start + 1}: a list's place"
            depth += 1
        elif token.type.endswith("list_close"):
            depth -= 1
        elif depth > 0 and token.map and token.type in ("fence", "paragraph_open"):
            line = lines[token.map[0]]
            item = re.match(r" *([-*]|\d+\.) ", line)
            assert item or line.startswith("    "), f"line {token.map[0] + 1}: four spaces"
    tables = {
        number
        for token in parsed(page)
        if token.type == "table_open" and token.map
        for number in range(token.map[0] + 1, token.map[1] + 1)
    }
    for number, line in enumerate(lines, 1):
        if line.startswith("|"):
            assert number in tables, f"line {number}: a row without a table above it"
            spans = re.findall(r"`[^`]*`", line)
            assert not any("|" in span for span in spans), f"line {number}: | in code ends a cell"


def test_every_command_that_is_not_run_here_is_tried_elsewhere() -> None:
    assert set(ELSEWHERE) | set(COMPOSED) <= set(COMMANDS)
    for command, (file, word) in ELSEWHERE.items():
        assert word in (ROOT / file).read_text(encoding="utf-8"), command
    tried = {one.command for axis in catalogue.AXES for one in catalogue.options(axis)}
    assert set(COMPOSED) <= tried


MADE_UP = {"a", "b", "mine", "name", "surprise", "timed", "true", "false"}  # in examples


def options(axis: str) -> set[str]:
    folders = (ROOT / "conf" / axis, ROOT / "conf" / "papers" / axis)
    return {path.stem for folder in folders for path in folder.glob("*.yaml")} | MADE_UP


def said() -> Iterator[tuple[str, str]]:
    """(file, words) of pages, and of strings in code."""
    yield from ((page.name, page.read_text(encoding="utf-8")) for page in PAGES)
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield file.name, node.value


def test_options_that_pages_and_messages_name_are_there() -> None:
    axes = [path.name for path in (ROOT / "conf").iterdir() if path.is_dir()] + ["sweep", "offline"]
    named = re.compile(rf"(?<![\w.@])({'|'.join(axes)})=([a-z]\w*(?:,[a-z]\w*)*)(?![\w=(\[.])")
    have = {axis: options(axis) for axis in axes}
    wrong, found = [], 0
    for name, words in said():
        for axis, options_named in named.findall(words):
            found += 1
            named_wrong = set(options_named.split(",")) - have[axis]
            wrong += [f"{name}: {axis}={one}" for one in named_wrong]
    assert not wrong
    assert found > 300


def test_what_the_docs_name_exists() -> None:
    words = (ROOT / "docs/faults.md").read_text()
    [trials] = re.findall(r"python -m tests.check_faults ((?:\w+ ?)+)`", words)
    assert set(trials.split()) <= set(TRIALS)
    spelt = [s for s in re.findall(r"`([^`\s]+)`", words) if "@" in s and "MODE" not in s]
    assert spelt
    for one in spelt:
        check(Fault.of(one))
    assert SLOW and not [name for name in SLOW if not (ROOT / "tests" / name).exists()]
