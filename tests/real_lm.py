"""The smallest real chat LM, for tests that must not rest on weights made here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SMOLLM2 = Path(
    os.environ.get("JUDGELAB_SMOLLM2") or Path(__file__).parents[1] / "outputs/models/smollm2"
)
_skip = pytest.mark.skipif(
    not (SMOLLM2 / "config.json").is_file(), reason="no SmolLM2 here: make smollm2"
)


def needs_smollm2(test):  # type: ignore[no-untyped-def]
    """Skipped, with the reason shown, where the model is not at hand."""
    return pytest.mark.real_lm(_skip(test))
