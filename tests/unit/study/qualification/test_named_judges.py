"""Judges of a list: each with its LM, mechanism and price."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgelab
from judgelab.calls.models import Price
from judgelab.calls.pace import Limits
from judgelab.core.errors import ConfigError
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.study.common.judges import NamedJudge, named
from tests.unit.python.frames import graded

SMALL = {"evaluation_lm": "compression", "evaluation_lm.order": 3, "mechanism": "gptscore"}
LARGE = {"evaluation_lm": "compression", "mechanism": "gptscore"}
CHAT = {
    "evaluation_lm": "openai",
    "evaluation_lm.model": "m",
    "evaluation_lm.base_url": "http://localhost:1/v1",
    "evaluation_lm.api_key_env": None,
    "mechanism": "pairwise",
}
NO_EXAMS: dict[str, Any] = {"consistency": None, "pertinence": None, "self_confidence": None}
FILE = """
- {name: small, evaluation_lm: compression, evaluation_lm.order: 3, mechanism: gptscore, price: 2}
- {name: large, evaluation_lm: compression, mechanism: gptscore, price: {input: 1, output: 9}}
"""


def qualified(root: Path, judges: Any) -> Any:
    given = {"study": "qualification", "data": graded(5), "paths__root": str(root)}
    return judgelab.run(judges=judges, **given, **NO_EXAMS)


def test_a_file_and_a_list_are_the_same_judges_at_their_prices(tmp_path: Path) -> None:
    (tmp_path / "judges.yaml").write_text(FILE)
    found = qualified(tmp_path, tmp_path / "judges.yaml")
    entries = {"small": SMALL | {"price": 2}, "large": LARGE | {"price": {"input": 1, "output": 9}}}
    assert qualified(tmp_path, entries).path == found.path
    pools = found.tables["pools"].set_index("name")
    assert {"small", "large"} <= set(pools.index)
    assert found.about["mechanism"] == "pairwise", "the run's, which neither is asked by"
    assert pools.loc["small", "cost"] == pytest.approx(2 * pools.loc["large", "cost"])
    assert pools.loc["large", "cost"] > 0 and (pools["currency"].dropna() == "USD").all()
    assert "Judges, by gptscore: small, large." in found.notes
    verdicts = found.records["clean_verdicts"]
    assert set(verdicts["judge"]) == {"small", "large"}
    scores = verdicts.select_dtypes("number").columns[-1]
    one, two = (verdicts[verdicts["judge"] == name][scores].to_numpy() for name in entries)
    assert not np.array_equal(one, two), "each by its own LM"


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ([{"name": "a", "mechanism": "length"}], "a: mechanism=length asks no LM"),
        (
            [CHAT | {"name": "a"}, CHAT | {"name": "b", "mechanism": "pointwise5"}],
            r"a \(mechanism=pairwise\) compares answers, and b .* grades them",
        ),
        ([{"name": "a", "price": -1}], r"entry 1 \(a\): price=-1 must be a number per million"),
        ([{"name": "a", "price": {"in": 1}}], "must be a number per million"),
        ([LARGE | {"name": "a", "preprocessor": "rules"}], "all judges read the same texts here"),
        (
            [LARGE | {"name": "a", "price": {"input": 1, "output": 1, "currency": "EUR"}}],
            r"the price of a \(its own, .* in EUR: give both in one currency",
        ),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, judges: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        qualified(tmp_path, judges)


def test_a_price_is_what_the_budget_counts_with() -> None:
    lm = OpenAI("gpt-4o-mini", "http://localhost:1/v1", Limits(), api_key_env=None)
    listed = lm.priced()
    assert listed is not None and listed.input == 0.15
    (judge,) = named({"a": {"evaluation_lm": lm, "price": {"input": 3.0, "output": 4.0}}}).values()
    assert lm.priced() == Price(3.0, 4.0) == judge.price
    assert NamedJudge(lm).price is None
