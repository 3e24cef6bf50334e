"""Values on a command line."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from judgelab.config.overrides import written


@pytest.mark.parametrize(
    "value",
    [
        True,
        None,
        6,
        "6",
        0.5,
        "null",
        "a b",
        "it's {x}, [y].txt",
        "",
        [1, "x y", True],
        {"My Agent": "A"},
    ],
)
def test_values_are_written_as_hydra_reads_them(value: object) -> None:
    read = OverridesParser.create().parse_override(f"++key={written(value)}").value()
    assert read == value
