"""Judges that know nothing are not qualified, and those that know something can be."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.auto_pre.null_judges import COMPANY, NULL, main, qualified

PANELS = 25


@pytest.mark.parametrize("company", ["judges that know nothing", "and two of .7, two of .9"])
def test_no_judge_that_knows_nothing_is_qualified(company: str) -> None:
    """By the thresholds alone some such judge was on 2 of 5 panels of such judges."""
    rng = np.random.default_rng(0)
    kinds = COMPANY[company]
    runs = [qualified(kinds, 30, rng) for _ in range(PANELS)]
    plain, held = (np.stack(each).all(axis=1) for each in zip(*runs, strict=True))
    assert held[:, : len(NULL)].any(axis=1).mean() <= 0.05
    if company == "judges that know nothing":
        assert plain.any(axis=1).mean() > 0.2
    else:
        assert held[:, -1].mean() > 0.9


def test_a_judge_that_is_right_in_seven_of_ten_can_be_qualified() -> None:
    rng = np.random.default_rng(1)
    runs = [qualified(("coin", "whim", "able .7"), 30, rng, "fixed") for _ in range(PANELS)]
    assert np.mean([held[:, 2].all() for _, held in runs]) > 0.7


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--panels", "2", "--items", "6"]) == 0
    said = capsys.readouterr().out
    assert "any that knows nothing" in said and "able .7" in said
