"""An audit from Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from judgelab.python.found import RunResult
from judgelab.python.running import Judges, run

if TYPE_CHECKING:
    from pandas import DataFrame


def audit(
    data: DataFrame | str | os.PathLike[str], judges: Judges | None = None, **settings: Any
) -> RunResult | None:
    """Can I trust these judges on my data, why, and what do I need? As ``study=audit``.

    ``result.verdicts`` says it of each judge, ``result.verdict`` in sentences.

    Args:
        data: a long table (docs/datasets.md: dataset=table), or a path to one; of other datasets
            the path, with ``dataset="jsonl"`` or so.
        judges: who is asked: a list of entries as in judges.yaml, its path, or name -> entry; None:
            those that the data hold verdicts of. Names in a list are columns of the table, each
            with one judge's verdicts.
        settings: see ``run``: of the study (``parts=["gate"]``, ``rules={"minimum": 0.7}``), the
            dataset (``columns=...``) and the run (``seed=1``, ``budget={"max_cost": 5}``).

    Returns:
        What was found; None with ``dry_run=True``, which prints calls and costs.

    Raises:
        JudgelabError: as on the command line, one sentence.
    """
    return run(data=data, judges=judges, study="audit", **settings)
