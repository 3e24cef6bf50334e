"""The page of a run: hostile names, nothing from elsewhere, made again from disk."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judgelab.report import page
from tests.unit.report.report_results import DISCRIMINATION, HOSTILE, result, write_run


class Reader(HTMLParser):
    """The tags, attributes and texts of a page, as a browser would take them apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def fetched(text: str) -> list[str]:
    """Whatever a browser would load from elsewhere."""
    reader = Reader(text)
    named = [v for k, v in reader.attributes if k in ("src", "href", "xlink:href", "srcset")]
    imported = re.findall(r"url\(([^)]*)\)|@import\s+(\S+)", text)
    targets = [*named, *(part for pair in imported for part in pair if part)]
    return [target for target in targets if not target.startswith(("#", "data:"))]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = write_run(
        tmp_path_factory.mktemp("run"), result(name=HOSTILE), f"{DISCRIMINATION}note: '<b>'\n"
    )
    return page.write(run).read_text(encoding="utf-8")


def test_the_page_needs_nothing_from_elsewhere(hostile_page: str) -> None:
    assert fetched(hostile_page) == []
    assert "http" not in hostile_page.replace("http-equiv", "")
    assert {"link", "iframe", "object", "img"}.isdisjoint(Reader(hostile_page).tags)


def test_hostile_names_are_text_and_nothing_else(hostile_page: str) -> None:
    reader = Reader(hostile_page)
    assert reader.tags.count("script") == 1
    assert not any(key.startswith("on") for key, _ in reader.attributes)
    assert f"{HOSTILE} 0" in reader.texts
    assert "note: '<b>'" in "".join(reader.texts)


def test_the_page_says_what_was_run_found_and_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path, result(auc=0.63245))
    texts = Reader(page.write(run).read_text(encoding="utf-8")).texts
    assert "mi on xsum, attacked by case_flip" in texts
    assert "Data: a sample; the agents are synthetic." in texts
    assert "0.632 [0.582, 0.682]" in texts
    assert "7 texts of the clean panel have no score." in texts
    assert {p.name for p in (tmp_path / "figures").iterdir()} == {
        f"{name}.{kind}" for name in result()["figures"] for kind in ("png", "svg")
    }
    csv = (tmp_path / "tables" / "discrimination.csv").read_text().splitlines()
    assert csv[0] == "panel,statistic,meaning,value,low,high,n,unscored,p"


def test_the_command_is_the_overrides_without_what_changes_no_number() -> None:
    given = ["mechanism=mi", "tracker=none", "paths.root=o", "+scale=ray", "agents={a b: Style}"]
    assert page.command({"overrides": given}) == "python run.py mechanism=mi 'agents={a b: Style}'"
    assert page.command({"overrides": None}) == "", "started from Python: the config repeats it"
    paper = page.command({"overrides": ["sweep=gem_figure_4", "mechanism=gem"]})
    assert paper == "python run.py sweep=gem_figure_4 mechanism=gem hydra.mode=RUN"


def test_what_is_open_stands_on_top_before_what_is_lost(tmp_path: Path) -> None:
    run = write_run(tmp_path, result())
    found = run.read_json("result.json")
    said = ["PARTIAL: 3 of 9 calls are open.", "w: another model answered.", "33 % of calls"]
    found["partial"], found["notes"] = {"sentence": said[0]}, [*said, *found["notes"]]
    found["summary"] |= {"model_warning": said[1], "unscored_warning": said[2]}
    run.write_json("result.json", found)
    text = page.write(run).read_text(encoding="utf-8")
    places = [text.index(sentence) for sentence in said]
    assert places == sorted(places)
    assert [text.count(sentence) for sentence in said] == [1, 1, 1]
    assert places[-1] < text.index(found["notes"][-1])
