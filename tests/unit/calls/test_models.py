"""What tokens cost; names of models that mean the same, and sentences where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.calls.models import alike, change, price_of, warning
from judgelab.core.errors import DataError


def test_an_unknown_price_is_unknown_and_never_free(tmp_path: Path) -> None:
    mini = price_of("gpt-4o-mini")
    assert mini is not None
    assert mini.cost(2_000_000, 1_000_000) == pytest.approx(0.9)
    assert price_of("nobody's model") is None
    mine = tmp_path / "prices.yaml"
    mine.write_text(
        "currency: EUR\nmodels:\n  a: {input: 1, output: 2}\n  b: {input: null, output: 1}"
    )
    known = price_of("a", str(mine))
    assert known is not None
    assert known.currency == "EUR"
    assert price_of("b", str(mine)) is None
    mine.write_text("models: 3")
    with pytest.raises(DataError, match="price list"):
        price_of("a", str(mine))


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini", True),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("llama-3", "llama-3-70b", False),
        ("llama-3", "llama-3-405b", False),
        ("meta-llama/Llama-3-8B", "Llama-3-8B", True),
        ("llama-3-8b", "/models/llama-3-8b.gguf", True),
        ("meta-llama/llama-3-8b:free", "meta-llama/llama-3-8b", True),
        ("llama3", "llama3:latest", True),
        ("llama3:8b", "llama3:70b", False),
        ("gemini-2.5-pro", "gemini-2.5-pro-preview-03-25", True),
        ("gpt-4o", "another-model", False),
    ],
)
def test_names_of_one_model(asked: str, answered: str, same: bool) -> None:
    assert alike(asked, answered) is same


def test_another_model_and_a_change_are_said() -> None:
    assert warning("evaluation_lm", "m", {"m-2024-07-18": 9}) is None
    said = warning("evaluation_lm", "m", {"other": 0})  # known by attempts alone
    assert said == "evaluation_lm: another model answered than m, which was asked for: other."
    said = warning("evaluation_lm", "m", {"m": 7, "tiny": 1, "other": 2})
    assert said == (
        "evaluation_lm: another model answered than m, which was asked for: other (2) and "
        "tiny (1); 3 of 10 answers that name one."
    )
    assert change("evaluation_lm", {"m": 1}) is None
    assert "m-1 (3) and m-2 (1)" in str(change("evaluation_lm", {"m-1": 3, "m-2": 1}))
