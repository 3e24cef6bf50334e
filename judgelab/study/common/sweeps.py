"""Tables of several runs as one, beside the numbers that a paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgelab.report.jobs import SweepJob, axes, setting


def table_rows(
    jobs: Sequence[SweepJob], table: str, name: str = "name", parts: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows of a table of every job, with what the job was in the column ``asked``.

    Args:
        name: the column that names a row.
        parts: columns beside which ``printed_COLUMN`` has what a summary holds under
            ``printed/TABLE/NAME/COLUMN``; absent where that is nowhere.
    """
    rows = []
    for job in jobs:
        own = " · ".join(setting(job, axis).strip("'\"") for axis in axes(jobs))
        for one in (job.result or {}).get("tables", ()):
            for row in one["rows"] if one["name"] == table else ():
                place = f"printed/{table}/{row.get(name)}"
                printed = {f"printed_{part}": job.summary.get(f"{place}/{part}") for part in parts}
                rows.append({"asked": own, **row, **printed})
    columns = dict.fromkeys(key for row in rows for key in row)
    printed_columns = [f"printed_{part}" for part in parts]
    absent = {key for key in printed_columns if all(row[key] is None for row in rows)}
    return [{key: row.get(key) for key in columns if key not in absent} for row in rows]
