"""The fixture ``judge_audit`` of pytest: a test fails where a judge may not be used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pandas import DataFrame

    from judgelab.python.results import RunResult


@pytest.fixture
def judge_audit(tmp_path: Path) -> Callable[..., RunResult]:
    """``judge_audit(df_or_path, minimum=.8).assert_usable()``; runs are kept in ``tmp_path``."""

    def audit(
        data: DataFrame | str | os.PathLike[str],
        *,
        judges: str | Sequence[str] | None = None,
        humans: str | Sequence[str] | None = None,
        minimum: float | None = None,
        **settings: Any,
    ) -> RunResult:
        """Audit a table (JudgelabError: that cannot be): its columns of verdicts and of labels, by
        default as ``judgelab audit`` finds them, and settings as ``judgelab.audit`` takes them.
        ``minimum`` is the least agreement that you accept."""
        from judgelab.python import audit as run

        columns = {"dataset__judges": judges, "dataset__raters": humans}
        lists = {key: [x] if isinstance(x, str) else list(x) for key, x in columns.items() if x}
        options = {"paths__root": str(tmp_path / "judgelab"), **lists, **settings}
        options |= {} if minimum is None else {"study__rules__minimum": minimum}
        result = run(data, **options)
        assert result is not None  # of a dry run there is nothing to hold on to
        return result

    return audit
