"""What several tests of a release share."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.releases.repositories import AUTO_PRE


@pytest.fixture(scope="module")
def clone(clones: Path) -> Path:
    """The Auto-PRE repository; skips without a clone of it."""
    found = clones / AUTO_PRE.name
    if AUTO_PRE.layout(found) != "clone":
        pytest.skip(f"no clone of {AUTO_PRE.address}")
    return found
