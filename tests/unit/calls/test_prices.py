"""What tokens cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.calls.prices import price_of
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
