"""LLMBar's recorded verdicts: the authors' own counts, and what a user may ask for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.dataset.llmbar import LLMBar
from judgelab.dataset.table import LabelledTable


def panel(*sets: str, **settings: object) -> Panel:
    return LLMBar(sets=sets or ("LLMBar/",), **settings).load()  # type: ignore[arg-type]


def table(*sets: str, **settings: object) -> JudgmentTable:
    found = panel(*sets, **settings).judgments
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
    found = panel("LLMBar/Natural", "Processed/FairEval")
    left = found.provenance["judges_without_all_verdicts"]
    assert isinstance(left, list) and "GPT-4/CoT" in left
    assert found.judgments is not None and len(found.judgments.judges) == 8


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: panel("LLMBar/Naturel"), "Did you mean"),
        (lambda: panel(lms=["GPT4"]), "Did you mean"),
        (lambda: panel(strategies=["cot"]), "no 'cot'"),
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
