"""The authors' repository as parquet files, a table each, with checksums.

python -m judgelab.releases.auto_pre CLONE OUT
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.terminal import say
from judgelab.releases.auto_pre.clone import exams, judgments
from judgelab.releases.auto_pre.clone.files import ADDRESS, noting
from judgelab.releases.auto_pre.tables import FROM_CLONE, absent, make_table
from judgelab.releases.repositories import AUTO_PRE, instead

CHECKSUMS = "checksums.json"


def convert(clone: Path, out: Path) -> dict[str, object]:
    """Write every table, and ``checksums.json``, which is also returned.

    Its ``tables`` have the SHA-256 and the rows of each parquet file, and the files read for it;
    ``sources`` the SHA-256 of each of these; ``left_out`` what is not there or was broken off.

    Raises:
        DataError: the folder is no clone, or a file of it is missing or damaged.
    """
    if AUTO_PRE.layout(clone) != "clone":
        raise DataError(
            f"{clone} is no clone of {ADDRESS}: it has no {' and no '.join(AUTO_PRE.clone)}."
            f"{instead(clone, AUTO_PRE)}"
        )
    out.mkdir(parents=True, exist_ok=True)
    made: dict[str, object] = {}
    sources: dict[str, str] = {}
    for key in FROM_CLONE:
        with noting() as noted:
            table = make_table(clone, key)
        file = out / f"{key}.parquet"
        table.to_parquet(file, index=False)
        read = {str(source.relative_to(clone)): digest for source, digest in noted.items()}
        sources |= read
        made[key] = {
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "rows": len(table),
            "from": sorted(read),
        }
    ended = [*judgments.broken_off(clone), *exams.broken_off(clone)]
    written: dict[str, object] = {
        "repository": ADDRESS,
        "commit": _commit(clone),
        "tables": made,
        "sources": dict(sorted(sources.items())),
        "left_out": [
            *absent(clone),
            *(f"{file} was broken off before its last question and is not used." for file in ended),
        ],
    }
    text = json.dumps(written, indent=1) + "\n"
    (out / CHECKSUMS).write_text(text, encoding="utf-8")
    return written


def _commit(clone: Path) -> str | None:
    """None where the folder is no checkout."""
    if not (clone / ".git").exists():
        return None
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the clone is not right."""
    parser = argparse.ArgumentParser(
        prog="python -m judgelab.releases.auto_pre",
        description="Write the tables of a clone of the Auto-PRE release as parquet files.",
    )
    parser.add_argument("clone", type=Path, help=f"a clone of {ADDRESS}")
    parser.add_argument("out", type=Path, help="folder to write")
    chosen = parser.parse_args(arguments)
    try:
        written = convert(chosen.clone.expanduser(), chosen.out.expanduser())
    except (JudgelabError, OSError) as cause:
        say(str(cause), sys.stderr)
        return 1
    tables, left_out = written["tables"], written["left_out"]
    assert isinstance(tables, dict) and isinstance(left_out, list)
    for key, facts in tables.items():
        print(f"{key}.parquet: {facts['rows']} rows of {len(facts['from'])} files")
    print(*left_out, f"Checksums of all of them are in {chosen.out / CHECKSUMS}.", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
