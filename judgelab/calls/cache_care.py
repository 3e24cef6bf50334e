"""Looking after a call cache: what ``python -m judgelab.calls.cache check|stats|prune FILE`` does.

``check`` and ``stats`` only read. Keys are hashes: which LM a single row is of cannot be known.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from judgelab.calls.cache import CHECKED, CallCache, connect, summed, tables
from judgelab.core.errors import DataError, JudgelabError
from judgelab.store.private import Owner

WORDS = {
    "logprob": "log-probabilities",
    "chat": "replies and scored prompts",
    "lm": "LMs and what they were asked for",
}


def main() -> None:
    """The command; exit code 1 where the file is damaged or cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m judgelab.calls.cache", description="Look after a call cache."
    )
    commands = parser.add_subparsers(required=True)
    told: dict[str, tuple[Callable[[Path], bool], str]] = {
        "check": (check, "whether every row and page is sound (exit code 1: no)"),
        "stats": (stats, "whose answers are in it, how many, and which gave no score"),
        "prune": (prune, "remove damaged rows and what dead processes left, and give space back"),
    }
    for name, (function, about) in told.items():
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("file", type=Path, help="paths.cache of the runs")
        command.set_defaults(function=function)
    chosen = parser.parse_args()
    try:
        sys.exit(0 if chosen.function(chosen.file) else 1)
    except JudgelabError as cause:
        print(f"error: {cause}", file=sys.stderr)
        sys.exit(1)


def check(file: Path) -> bool:
    """Print what is damaged; whether nothing is."""
    db = _opened(file)
    found = tables(db)
    sound = True
    for table in (table for table in CHECKED if table in found):
        try:
            (rows,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
            wrong = f"SELECT count(*) FROM {table} WHERE sum IS NOT {summed(table)}"
            (bad,) = db.execute(wrong).fetchone()
            print(f"{WORDS[table]}: {rows:,} rows" + (f", {bad:,} of them damaged" if bad else ""))
            sound &= not bad
        except (sqlite3.Error, UnicodeDecodeError) as cause:
            print(f"{WORDS[table]}: cannot be read to the end ({cause})")
            sound = False
    sound &= _whole(db)
    db.close()
    print(
        "sound"
        if sound
        else "damaged: damaged rows are never used, and asked again; prune removes them"
    )
    return sound


def _whole(db: sqlite3.Connection) -> bool:
    """Whether SQLite finds all pages in order; prints what it does not."""
    try:
        said = [line.decode(errors="replace") for (line,) in db.execute("PRAGMA integrity_check")]
    except (sqlite3.Error, UnicodeDecodeError) as cause:
        said = [str(cause)]
    for line in said[:5] if said != ["ok"] else []:
        print(f"pages: {line}")
    return said == ["ok"]


def stats(file: Path) -> bool:
    """Print whose answers there are, how many, and the reasons of those without a score."""
    _opened(file).close()
    cache = CallCache(file, read_only=True)
    size = sum(f.stat().st_size for f in (file, file.with_name(f"{file.name}-wal")) if f.is_file())
    print(f"{file}: {size / 1e6:,.1f} MB")
    for identity, verb in cache.lms():
        print(f"  {verb} of {identity}")
    counts, reasons = Counter[str](), Counter[str]()
    for reply in cache.replies():
        values = json.loads(reply)
        kind = "scored prompts" if "tokens" in values else "replies"
        counts[kind] += 1
        if kind == "replies" and values.get("text") is None:
            reasons[str(values.get("reason") or "no reason given")] += 1
    print(f"log-probabilities: {cache.count('logprob'):,}")
    for kind in ("replies", "scored prompts"):
        print(f"{kind}: {counts[kind]:,}")
    print(f"replies without a result: {reasons.total():,}")
    for reason, number in reasons.most_common():
        print(f"  {number:,} {reason}")
    if cache.damaged:
        print(f"damaged rows: {cache.damaged:,} (check says more)")
    cache.close()
    return True


def prune(file: Path) -> bool:
    """Remove damaged rows, claims and marks of dead processes, and what space they took."""
    _opened(file).close()
    before, cache = file.stat().st_size, CallCache(file)
    owner = Owner(file.with_name(f"{file.name}.owners"))
    with cache.transaction() as db:
        bad = sum(
            db.execute(f"DELETE FROM {table} WHERE sum IS NOT {summed(table)}").rowcount
            for table in CHECKED
        )
        held = [(name or b"").decode(errors="replace") for (name,) in db.execute(OWNERS)]
        dead = [(name.encode(),) for name in held if not owner.lives(name)]
        gone = db.executemany("DELETE FROM claim WHERE CAST(owner AS BLOB) IS ?", dead).rowcount
    marks = [path.name for path in file.with_name(f"{file.name}.owners").iterdir()]
    left = sum(not owner.lives(name) for name in marks)
    owner.close()
    cache.compact()
    cache.close()
    print(f"removed: {bad:,} damaged rows, {max(gone, 0):,} claims and {left:,} marks of processes")
    print(f"size: {before / 1e6:,.1f} MB before, {file.stat().st_size / 1e6:,.1f} MB now")
    return True


OWNERS = "SELECT DISTINCT CAST(owner AS BLOB) FROM claim"


def _opened(file: Path) -> sqlite3.Connection:
    """To be read only; DataError where it is no cache of this judgelab."""
    if not file.is_file():
        raise DataError(f"There is no call cache at {file}: give the file that paths.cache names.")
    try:
        return connect(file, read_only=True)
    except sqlite3.Error as cause:
        raise DataError(f"{file} cannot be used ({cause}).") from cause
