"""What happens where an endpoint, a disk or a parent process fails: measured, and checked.

    python -m tests.check_faults                 # all of it, minutes: make check-faults
    python -m tests.check_faults --small         # seconds, as in the test suite
    python -m tests.check_faults passing kills   # these trials alone

Every trial runs the command line against a server process (tests.servers) whose log is the
yardstick. Prints a table for each; exit code 1 where a claim does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.check_faults import others, paid
from tests.check_faults.hostile import hostile
from tests.check_faults.kills import kills
from tests.check_faults.rates import rates
from tests.check_faults.trial import Findings, Place

TRIALS: dict[str, Callable[[Place], Findings]] = {
    "passing": paid.faults_that_pass,
    "lasting": paid.faults_that_last,
    "within": paid.outage_within,
    "outage": paid.outage_after,
    "start": paid.outage_from_the_start,
    "hostile": hostile,
    "kills": kills,
    "rates": rates,
    "cache": others.cache,
    "odd": others.odd,
}
SMALL = ("passing", "lasting")  # an outage: tests/e2e/test_partial.py


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A Markdown table."""
    if not rows:
        return []
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([str(row.get(h, "")) for h in heads] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def shown(name: str, words: str, found: Findings, seconds: float) -> str:
    """A trial's findings for people."""
    claims = [f"  {'held  ' if held else 'FAILED'} {text}" for text, held in found.claims]
    head = f"## {name}: {words} ({seconds:.0f} s)"
    return "\n".join([head, "", *table(found.rows), "", *found.notes, *claims, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(
        "python -m tests.check_faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=", ".join(TRIALS))
    parser.add_argument("--small", action="store_true", help="few calls, for the test suite")
    parser.add_argument("--folder", type=Path, help="keep what the trials write")
    given = parser.parse_args(arguments)
    names = given.trials or (SMALL if given.small else TRIALS)
    if strangers := set(names) - set(TRIALS):
        parser.error(f"no trial is called {', '.join(sorted(strangers))}")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="check-faults-"))
    place, failed, began = Place(folder.resolve(), given.small), 0, time.monotonic()
    for name in names:
        start = time.monotonic()
        found = TRIALS[name](place)
        words = (TRIALS[name].__doc__ or "").splitlines()[0].rstrip(".")
        print(shown(name, words, found, time.monotonic() - start), flush=True)
        failed += sum(not held for _, held in found.claims)
    claims = "every claim holds" if not failed else f"{failed} CLAIMS FAILED"
    print(f"{claims} ({time.monotonic() - began:.0f} s)")
    if given.folder is None:
        shutil.rmtree(folder)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
