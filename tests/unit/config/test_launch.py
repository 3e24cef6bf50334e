"""What is refused before Hydra starts, because Hydra would take it and then ignore it."""

from __future__ import annotations

import pytest

from judgelab.config.launch import check_sweep
from judgelab.core.errors import ConfigError


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "sweep=gem_figure_4,gem_figure_5"], "one at a time"),
        (["sweep=gem_figure_4", "offline=gem,dhp"], "one at a time"),
        (["offline=dhp"], "sweep is null"),
        (["sweep=gem_figure_4", "offline=tvd_mi"], "sweep=tvd_mi_figure_"),
        (["sweep=tvd_mi_figure_2", "offline=tvdmi"], "offline=tvdmi"),
    ],
)
def test_sweeps_that_would_be_ignored_are_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_sweep(arguments)


def test_others_pass() -> None:
    check_sweep(["sweep=tvd_mi_figure_2", "offline=tvd_mi", "mechanism=mi,gppm"])
    check_sweep(["dataset.path=sweep=a,b", "sweep=null", "offline=null"])
