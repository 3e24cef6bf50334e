"""The shipped samples: enough items, none empty, none alike, read by the Hub's own field map."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.dataset.llmbar import LLMBar
from judgelab.dataset.provenance import SAMPLES
from judgelab.dataset.table import LabelledTable

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"
PEERS = ("iclr_reviews", "peer_grading", "yelp")  # texts by several peers
OPEN = {"nf_cats"}  # questions without a reference: test_hub.py
NAMES = sorted({file.stem for file in SAMPLES.glob("*.jsonl")} - {*PEERS, *OPEN})
SHARED_WORDS = 12  # so long a run of words in two texts is boilerplate, or a copy
CHOICE = re.compile(r"^\d+: .*$", re.MULTILINE)  # a grade of a review form reads alike by design
FORM = [
    "Summary Of The Paper:",
    "Strength And Weaknesses:",
    "Clarity, Quality, Novelty And Reproducibility:",
    "Summary Of The Review:",
]
HEADINGS = re.compile("|".join([*FORM, "Weaknesses of the project/likely roadblocks:"]))


@cache
def panel(name: str) -> Panel:
    """As a user gets it, so that sample and Hub go through one field map."""
    node: dict[str, Any] = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    node.pop("defaults", None)
    made: Panel = build({**node, **({"seed": 0} if name == "yelp" else {})}, "dataset").load()
    return made


def texts(name: str) -> list[list[str]]:
    """By item, or by peer."""
    if name in PEERS:
        return [[text or ""] for row in panel(name).texts for text in row]
    return [[item.source, item.reference or ""] for item in panel(name).items]


@pytest.mark.parametrize("name", [*NAMES, *PEERS])
def test_at_least_twelve_items_none_empty_none_twice(name: str) -> None:
    its = texts(name)
    assert len(panel(name).items) >= 12 or name in PEERS
    assert all(text.strip() for group in its for text in group)
    for column in zip(*its, strict=True):
        assert len(set(column)) == len(its)
    assert all(item.synopsis for item in panel(name).items) or name not in PEERS


@pytest.mark.parametrize("name", [*NAMES, *PEERS])
def test_no_two_texts_share_a_run_of_words(name: str) -> None:
    owner: dict[tuple[str, ...], int] = {}
    for k, group in enumerate(texts(name)):
        for text in group:
            told = re.findall(r"\w+|\|", HEADINGS.sub("|", CHOICE.sub("", text)).lower())
            for run in zip(*(told[start:] for start in range(SHARED_WORDS)), strict=False):
                assert owner.setdefault(run, k) == k, " ".join(run)


@pytest.mark.parametrize("name", [*NAMES, *PEERS])
def test_the_readme_tells_the_size_of_the_sample(name: str) -> None:
    items, agents = panel(name).items, panel(name).agents
    counts = [len(items), len(agents)] if name in PEERS else [len(items)]
    columns = [list(column) for column in zip(*texts(name), strict=True)]
    columns += [[item.synopsis or "" for item in items]] if name in PEERS else []
    words = [round(mean(len(text.split()) for text in column)) for column in columns]
    line = f"| {' | '.join(map(str, [name, *counts, *words]))} |"
    assert line in (SAMPLES / "README.md").read_text(encoding="utf-8")


DOCS = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"
SAID = re.compile(r"```csv\n(.*?)```\n\n    python run.py (.*?)\n", re.DOTALL)
EXAMPLES = SAID.findall(DOCS.read_text(encoding="utf-8"))
WANTED = [  # kind, raters, truth, verdicts of each judge
    ("grade", ("ann", "bob"), [5, 2.5], [[[5], [4]]]),
    ("preference", ("people",), [0, 0.5], [[[0, 0], [1, np.nan]]]),
    ("category", ("people",), [1, 2, 0], [[[2], [2], [np.nan]]]),
    ("preference", ("ann", "bob"), [0, 0.75], [[[0, 0], [1, 0]], [[1, np.nan], [0, np.nan]]]),
]


def read(folder: Path, text: str, command: str) -> JudgmentTable:
    file = folder / "judged.csv"
    file.write_text(text, encoding="utf-8")
    words = [word.replace("judged.csv", str(file)) for word in shlex.split(command)]
    panel = build(resolved(composed(words))["dataset"], "dataset").load()
    assert isinstance(panel.judgments, JudgmentTable)
    return panel.judgments


def test_every_example_is_tried() -> None:
    assert len(EXAMPLES) == len(WANTED)


@pytest.mark.parametrize("k", range(len(WANTED)))
def test_an_example(tmp_path: Path, k: int) -> None:
    found = read(tmp_path, *EXAMPLES[k])
    kind, raters, truth, verdicts = WANTED[k]
    assert (found.kind, found.raters) == (kind, raters)
    assert np.array_equal(found.truth, truth, equal_nan=True)
    assert np.array_equal(found.verdicts, np.array(verdicts, float), equal_nan=True)


def llmbar(*sets: str, **settings: object) -> Panel:
    return LLMBar(sets=sets or ("LLMBar/",), **settings).load()  # type: ignore[arg-type]


def table(*sets: str, **settings: object) -> JudgmentTable:
    found = llmbar(*sets, **settings).judgments
    assert found is not None
    return found


def right(found: JudgmentTable) -> np.ndarray:
    """[judges, items, orders] an unread verdict is wrong."""
    return found.verdicts == found.truth[None, :, None]


def test_its_own_sets_by_default() -> None:
    found = table()
    assert len(found.units) == 419 and len(found.judges) == 65 and found.labelled.all()
    assert set(found.units.stratum) == {
        "LLMBar/Natural", *(f"LLMBar/Adversarial/{n}" for n in ("GPTInst", "GPTOut", "Manual")),
        "LLMBar/Adversarial/Neighbor",
    }  # fmt: skip


def test_the_authors_counts(shared_data: Path) -> None:
    """998 of 998 counts of right verdicts and both-orders; ``equal`` as the authors count it."""
    released = pd.read_parquet(shared_data / "judge_audit" / "llmbar_statistics.parquet")
    counts = equal = 0
    for name, rows in released.groupby("set"):
        found = table(str(name))
        judges = {f"{row['judge']}/{row['strategy']}": row for row in rows.to_dict("records")}
        assert set(judges) == set(found.names)
        for judge, said, hit in zip(found.names, found.verdicts, right(found), strict=True):
            row, n = judges[judge], len(hit)
            assert row["correct_False"].startswith(f"{hit[:, 0].sum()} / {n} ")
            assert row["correct_True"].startswith(f"{hit[:, 1].sum()} / {n} ")
            assert float(row["correct_average"].rstrip("%")) == pytest.approx(100 * hit.mean())
            assert row["correct_both"].startswith(f"{hit.all(axis=1).sum()} / {n} ")
            unread = np.isnan(said).all(axis=1)  # the authors take it as agreement
            same = (said[:, 0] == said[:, 1]) | unread
            equal += row["equal"].startswith(f"{same.sum()} / {n} ")
            counts += 2
    assert (counts, equal) == (998, 499)


def test_judges_without_all_verdicts_are_named() -> None:
    found = llmbar("LLMBar/Natural", "Processed/FairEval")
    left = found.provenance["judges_without_all_verdicts"]
    assert isinstance(left, list) and "GPT-4/CoT" in left
    assert found.judgments is not None and len(found.judgments.judges) == 8


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: llmbar("LLMBar/Naturel"), "Did you mean"),
        (lambda: llmbar(lms=["GPT4"]), "Did you mean"),
        (lambda: llmbar(strategies=["cot"]), "no 'cot'"),
    ],
)
def test_what_it_does_not_have_is_said(make: Callable[[], Panel], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make()


def test_its_texts_are_a_table(tmp_path: Path) -> None:
    """As a clone of the authors' repository has them."""
    row = {"input": "Why?", "output_1": "So.", "output_2": "Because.", "label": 2}
    file = tmp_path / "dataset.json"
    file.write_text(json.dumps([row, row | {"label": 1}]))
    found = LabelledTable(path=str(file), columns={"preference": "label"}).load()
    assert found.items[0].source == "Why?" and found.texts[0] == ("So.", "Because.")
    assert found.judgments is not None and found.judgments.truth.tolist() == [0, 1]
