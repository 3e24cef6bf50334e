"""Studies of rankings are composed from the shipped configs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hydra import initialize_config_dir

from tests.unit.study.ranking.ranking_context import CONF


@pytest.fixture(scope="package", autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield
