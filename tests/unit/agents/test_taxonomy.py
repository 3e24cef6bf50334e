"""The taxonomies against the paper's tables, and what a broken file says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from judgelab.agents import Recorded
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel

COUNTS = {  # TVD-MI paper, Tables 8, 9 and 7
    "summarization": {"Faithful": 4, "Style": 10, "Strategic": 10, "Low Effort": 5, "Other": 1},
    "translation": {"Faithful": 6, "Style": 15, "Strategic": 4, "Low Effort": 5, "Other": 1},
    "peer_review": {"Faithful": 4, "Style": 12, "Strategic": 8, "Low Effort": 5},
}
PEER_REVIEW_ORDER = """Reference, Faithful, Objective Analysis, Thorough Evaluation,
Balanced Critique, Method Shift, Question Shift, Contribution Misrepresent, Result Manipulation,
Assumption Attack, Low Effort, Generic, Surface Skim, Template Fill, Checklist Review,
Overly Technical, Harsh Critique, Overly Positive, Theory Focus, Implementation Obsessed,
Comparison Fixated, Pedantic Details, Scope Creep, Statistical Nitpick, Future Work Focus,
Dismissive Expert, Agenda Push, Benchmark Obsessed, Writing Critique"""


@pytest.mark.parametrize("task", COUNTS)
def test_categories_are_those_of_the_paper(task: str) -> None:
    taxonomy = load_taxonomy(task)
    assert taxonomy.task == task
    assert Counter(s.category for s in taxonomy.strategies) == COUNTS[task]
    assert taxonomy.strategies[0].reference
    assert sum(s.reference for s in taxonomy.strategies) == 1


def test_order_is_that_of_the_released_arrays() -> None:
    names = [s.name for s in load_taxonomy("peer_review").strategies]
    assert names == " ".join(PEER_REVIEW_ORDER.split()).split(", ")


def test_the_code_differs_from_the_paper_in_five_translation_strategies() -> None:
    differ = {
        s.name: (s.category, s.category_released)
        for task in COUNTS
        for s in load_taxonomy(task).strategies
        if s.category != s.category_released
    }
    assert differ == {
        "Formal": ("Style", "Faithful"),
        "Technical": ("Style", "Faithful"),
        "Simplify": ("Low Effort", "Style"),
        "Comparative": ("Faithful", "Style"),
        "Quantitative": ("Faithful", "Style"),
    }


def test_reading_stages_and_prompts() -> None:
    reading = {
        task: [s.name for s in load_taxonomy(task).strategies if s.reading] for task in COUNTS
    }
    assert reading["summarization"] == ["Fact Manipulation", "Misleading Emphasis"]
    assert reading["translation"] == []
    assert len(reading["peer_review"]) == 28
    review = load_taxonomy("peer_review")
    assert len({s.prompt for s in review.strategies if not s.reference}) == 1
    for task in COUNTS:
        for strategy in load_taxonomy(task).strategies:
            assert strategy.reference or strategy.prompt
            assert strategy.description
    summaries = [s for s in load_taxonomy("summarization").strategies if not s.reference]
    assert all("{noun}" in s.prompt for s in summaries)
    assert len({s.prompt for s in summaries}) == 29


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'summarization'.*peer_review"):
        load_taxonomy("sumarization")
    with pytest.raises(ConfigError, match="no taxonomy 'nowhere"):
        load_taxonomy("nowhere/else.yaml")


ENTRY = "- {name: A, category: Style, description: d, prompt: p}"


@pytest.mark.parametrize(
    "body,message",
    [
        ("agents: 3", "needs the keys"),
        ("agents: [oops", "not readable YAML"),
        ("agents: []", "at least 1 item"),
        ("agents: [{name: A, category: Style, description: d}]", "'prompt' is missing"),
        (
            "agents: [{name: A, category: Stile, description: d, prompt: p}]",
            r"0\.category .*'Style'",
        ),
        ("agents: [{name: A, categry: Style}]", r"agents\.0\.categry .*not permitted"),
        (f"agents:\n  {ENTRY}\n  {ENTRY}", "A stands there more than once"),
        (f"max_tokens: 0\nagents:\n  {ENTRY}", "max_tokens .* greater"),
    ],
)
def test_a_broken_file_names_the_entry(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: summarization\n{body}\n")
    with pytest.raises(DataError, match=message):
        load_taxonomy(str(path))


def test_the_sha_follows_the_content_and_not_the_comments(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: t\nagents:\n  {ENTRY}\n")
    first = load_taxonomy(str(path)).sha
    path.write_text(f"# a comment\ntask: t\nagents:\n  {ENTRY}\n")
    assert load_taxonomy(str(path)).sha == first
    path.write_text(f"task: t\nagents:\n  {ENTRY.replace('prompt: p', 'prompt: q')}\n")
    assert load_taxonomy(str(path)).sha != first


def test_recorded_without_responses_names_the_dataset() -> None:
    panel = Panel(items=(Item("1", "s"),), provenance={"dataset": "xsum"})
    with pytest.raises(ConfigError, match="'xsum' has no recorded responses: use agents=rules"):
        Recorded().answer(panel, None)
