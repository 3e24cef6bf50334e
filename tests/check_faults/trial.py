"""Running a job as its user does, and what it leaves: the client's side of every comparison."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.conftest import cached_calls
from tests.fresh import Fresh, environment
from tests.servers.account import entries

SHAPE, SMALL = (5, 21), (2, 9)  # items, agents; a judge asks all ordered pairs of an item at once
PRICES = 0.15, 0.60  # of gpt-4o-mini, a million tokens
FAST = ("tracker=none", "study.bootstrap=50")
LIMITS = {"concurrency": 32, "timeout": 2.5, "backoff": 0.05, "longest_wait": 0.3, "retries": 3}
QUICK = {"timeout": 1.5, "backoff": 0.01, "longest_wait": 0.05}
PATIENCE = 90  # seconds until a job counts as hung


@dataclass(frozen=True)
class Ended:
    """How a job ended; code -9 where it had to be stopped; ``megabytes`` at its peak, if known."""

    code: int
    said: str
    seconds: float
    megabytes: int = 0


@dataclass
class Findings:
    """Rows of a table, and claims about them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    claims: list[tuple[str, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def claim(self, text: str, held: object) -> None:
        self.claims.append((text, bool(held)))


@dataclass(frozen=True)
class Place:
    """One trial's folder and manner.

    Attributes:
        small: as few calls as show anything, for the normal suite.
        shape: items and agents of the panel; None: as many as ``small`` says.
    """

    folder: Path
    small: bool
    shape: tuple[int, int] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Items and agents of the panel."""
        return self.shape or (SMALL if self.small else SHAPE)

    @property
    def calls(self) -> int:
        items, agents = self.size
        return items * agents * (agents - 1)

    def job(self, url: str, *more: str, **limits: float) -> list[str]:
        """Overrides of a run that judges the panel."""
        bounds = LIMITS | (QUICK if self.small else {}) | limits
        return [
            *asking(url, write_panel(self.folder, *self.size)),
            "mechanism=judge",
            *(f"evaluation_lm.limits.{name}={value}" for name, value in bounds.items()),
            *more,
        ]


def write_panel(folder: Path, items: int, agents: int) -> Path:
    """A panel's file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"panel_{items}_{agents}.jsonl"
    rows = [
        {
            "id": f"q{k}",
            "source": f"The {k}. ferry left the harbour late because of fog.",
            "responses": {f"a{j}": f"Ferry {k} was late, says {j}." for j in range(agents)},
        }
        for k in range(items)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def asking(url: str, panel: Path) -> list[str]:
    """Overrides of a run that asks the server about the panel's texts."""
    return [
        "dataset=jsonl",
        f"dataset.path={panel}",
        "evaluation_lm=openai",
        "evaluation_lm.model=gpt-4o-mini",
        "evaluation_lm.server=scripted",
        f"evaluation_lm.base_url={url}",
        *FAST,
    ]


def ran(root: Path, job: Sequence[str], patience: float = PATIENCE, **env: str) -> Ended:
    """The job until it ends by itself, or has to be stopped."""
    output = root / "said.txt"
    began, process = time.monotonic(), Fresh(job, environment(root) | env, output)
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    seconds = time.monotonic() - began
    return Ended(code, output.read_text(errors="replace"), seconds, process.megabytes)


@dataclass(frozen=True)
class Left:
    """What the runs below a root left on disk."""

    sent: int  # attempts, by the client's account
    cost: float
    perhaps: float  # more at most, for attempts whose cost is not known
    settled: int  # calls with an answer in the call cache
    reasons: Counter[str]  # of unscored calls; empty where the run does not say
    unsettled: int | None  # of these, calls that the same command asks again
    done: int  # finished runs

    @classmethod
    def below(cls, root: Path) -> Left:
        """What is there now."""
        lines = [e for file in root.glob("runs/*/calls*.jsonl") for e in entries(file)]
        sent = [e for e in lines if "sent" in e]
        ended = [e for e in lines if "ended" in e]
        open_ = {e["sent"]: e.get("reserved", 0.0) for e in sent}
        for e in ended:
            if e.get("cost") is not None:
                open_.pop(e["ended"], None)
        unscored = _unscored(root)
        return cls(
            len(sent),
            sum(e.get("cost") or 0.0 for e in ended),
            sum(open_.values()),
            cached_calls(root),
            Counter(row["reason"] for row in unscored or []),
            None if unscored is None else sum(not row["settled"] for row in unscored),
            len(list(root.glob("runs/*/DONE"))),
        )


def _unscored(root: Path) -> list[Any] | None:
    import pandas as pd

    files = sorted(root.glob("runs/*/records/unscored.parquet"))
    if not files:
        return None
    return [row for file in files for row in pd.read_parquet(file).to_dict("records")]


def written(root: Path) -> dict[str, str]:
    """Every file that holds numbers -> the hash of its bytes; runs without their fingerprints."""
    found = dict[str, str]()
    for path in (*root.glob("runs/*/result.json"), *root.glob("runs/*/records/*")):
        run, *rest = path.relative_to(root / "runs").parts
        if path.is_file():
            name = "/".join((run.rsplit("-", 1)[0], *rest))
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def differing(root: Path, other: Path) -> list[str]:
    """Files that are not the same bytes in both; lists of unscored calls are left out."""
    one, two = written(root), written(other)
    both = {name for name in one.keys() | two.keys() if "unscored" not in name}
    return sorted(name for name in both if one.get(name) != two.get(name))
