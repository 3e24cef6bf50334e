"""Trials that have a command of their own: damaged caches, odd replies, rates and budgets."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tests.check_faults.trial import Findings, Place
from tests.e2e.conftest import ROOT


def cache(place: Place) -> Findings:
    """One-bit flips and truncations of a call cache."""
    return _command("tests.cache_damage", *(["--flips=40", "--cuts=20"] if place.small else []))


def odd(place: Place) -> Findings:
    """5,000 generated replies over the real HTTP client."""
    return _command("tests.odd_replies", *(["--replies=200"] if place.small else []))


def rates(place: Place) -> Findings:
    """Rates with stray 429s and of two jobs at once, and what a budget lets through."""
    out = place.folder / "paid.json"
    return _command("tests.bench_paid", "--seconds=10", "--rate=100", f"--out={out}")


def _command(module: str, *arguments: str) -> Findings:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    found = Findings(notes=[done.stdout.strip()[-2000:]])
    seconds = time.monotonic() - began
    found.claim(f"python -m {module} exits with 0 ({seconds:.0f} s)", done.returncode == 0)
    return found
