"""Agents and attacks against the release, whose attacked texts are known by their lengths."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from experiments.peer_prediction.release import read_domain
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.attack.case_flip import CaseFlip
from judgelab.attack.format import Format
from judgelab.attack.padding import Padding
from judgelab.attack.pattern import Pattern
from judgelab.attack.repetition import Repetition
from judgelab.attack.sentence_deletion import line_sentences, thin, thin_as_released
from judgelab.core.sentences import HEADERS, heading, label, sections
from judgelab.preprocessor.judgments import VERBS, judgment_lines
from judgelab.preprocessor.rules import judgments_of
from tests.scripted import NOBODY

ATTACKS = {
    "case_flip": CaseFlip(),
    "format": Format(tag="source"),
    "padding": Padding(),
    "pattern": Pattern(tag="source"),
    "repetition": Repetition(),
}


@pytest.mark.parametrize("task,code", [("summarization", "xsum"), ("translation", "opus")])
def test_names_and_categories_of_agents(shared_data: Path, task: str, code: str) -> None:
    released = json.loads((shared_data / "peer_prediction" / "meta.json").read_text())
    ours = [(s.name, s.category, s.category_released) for s in load_taxonomy(task).strategies]
    assert ours == [
        (a["name"], a["category_paper"], a["category_code"]) for a in released["agents"][code]
    ]


@pytest.mark.parametrize("name", ATTACKS)
def test_lengths_of_all_attacked_responses(shared_data: Path, name: str) -> None:
    folder = shared_data / "peer_prediction"
    if not (folder / "matrices" / f"reddit_tifu__{name}.npz").is_file():
        pytest.skip(f"no released run under {name} at hand")
    clean = read_domain(folder, "reddit_tifu").panel()
    attacked = ATTACKS[name].apply(clean, NOBODY, seed=0)
    with np.load(folder / "matrices" / f"reddit_tifu__{name}.npz") as recorded:
        lengths, ids = recorded["response_chars"], recorded["item_ids_tvd"]
    mine = {item.id: row for item, row in zip(attacked.items, attacked.texts, strict=True)}
    ours = np.array([[len(text or "") for text in mine[str(i)]] for i in ids])
    assert ours.shape == (200, 30)
    np.testing.assert_array_equal(ours, lengths)


FOUR = [HEADERS[0], HEADERS[1], HEADERS[3], HEADERS[4]]


@pytest.fixture(scope="module")
def reviews(shared_data: Path) -> pd.DataFrame:
    file = shared_data / "gem" / "gem_iclr2023_300x3_reviews.parquet"
    if not file.is_file():
        pytest.skip("no released reviews at hand")
    return pd.read_parquet(file, columns=["review_no", "review", "review_summary_gpt4o"])


def said(text: str) -> list[str]:
    return [
        piece
        for part in sections(text)
        for line in part.body.split("\n")
        if not heading(line)
        for piece in line_sentences(label(line)[1])
    ]


def headings(text: str) -> list[str]:
    """Headings inside the sections of a review, and labels before a sentence, as they stand."""
    lines = [line for part in sections(text) for line in part.body.split("\n")]
    found = [line.strip() if heading(line) else label(line)[0].strip() for line in lines]
    return [one for one in found if one]


def test_every_review_has_the_four_sections(reviews: pd.DataFrame) -> None:
    found = [[part.name for part in sections(text) if part.name] for text in reviews["review"]]
    assert sum(names == FOUR for names in found) == 899
    assert sum(list(dict.fromkeys(names)) == FOUR for names in found) == 900  # one repeats a header


def test_deletion_keeps_half_of_the_sentences_and_every_header(reviews: pd.DataFrame) -> None:
    before, after = [], []
    for review in reviews["review"]:
        thinned = thin(review)
        headers = [(part.header, part.name) for part in sections(review)]
        assert [(part.header, part.name) for part in sections(thinned)] == headers
        left = iter(thinned.split("\n"))
        for one in headings(review):
            assert any(line.strip().startswith(one) for line in left), "every heading, in order"
        before.append(len(said(review)))
        after.append(len(said(thinned)))
    # Half of every section, rounded up: at most half a sentence more per section.
    assert sum(after) / sum(before) == pytest.approx(0.534, abs=0.005)
    assert (np.array(after) + 1 >= np.array(before) / 2).all()  # "In more detail:" stays a label


def test_both_definitions_keep_as_much_text(reviews: pd.DataFrame) -> None:
    length = reviews["review"].str.len()
    ours = reviews["review"].map(lambda text: len(thin(text))) / length
    theirs = reviews["review"].map(lambda text: len(thin_as_released(text))) / length
    assert ours.mean() == pytest.approx(0.57, abs=0.01)
    assert theirs.mean() == pytest.approx(0.55, abs=0.01)


def test_most_lines_of_the_released_summaries_have_the_form(reviews: pd.DataFrame) -> None:
    read = [judgment_lines(text, "The reviewer") for text in reviews["review_summary_gpt4o"]]
    kept = sum(len(lines) for lines, _ in read)
    assert all(lines for lines, _ in read)
    assert 0.95 < kept / (kept + sum(others for _, others in read)) < 1


def test_rules_find_the_kinds_of_judgments_that_an_lm_finds(reviews: pd.DataFrame) -> None:
    """No substitute: the two agree on how many there are of each kind, not on the words."""
    some = reviews[reviews["review_no"] == 2]
    counts = {}
    for how, column in (("rules", "review"), ("lm", "review_summary_gpt4o")):
        texts = some[column]
        read = judgments_of if how == "rules" else judgment_lines
        lines = [read(text, "The reviewer")[0] for text in texts]
        assert all(lines)
        kinds = [Counter(line.split(" ")[2] for line in found) for found in lines]
        counts[how] = np.array([[kind[verb] for verb in VERBS] for kind in kinds])
    for k, verb in enumerate(VERBS):
        rank = spearmanr(counts["rules"][:, k], counts["lm"][:, k]).statistic
        assert 0.45 < rank < 0.85, verb
    # Rules cannot merge sentences of one judgment; a half more would be descriptions.
    assert 1 < counts["rules"].sum() / counts["lm"].sum() < 1.35
