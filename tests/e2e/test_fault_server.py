"""The server that misbehaves: what it is told, it does, and its account is right."""

from __future__ import annotations

import re

from tests.check_faults.__main__ import TRIALS
from tests.e2e.conftest import ROOT
from tests.servers.modes import check
from tests.servers.schedule import Fault


def test_what_the_docs_name_exists() -> None:
    words = (ROOT / "docs/faults.md").read_text()
    [trials] = re.findall(r"python -m tests.check_faults ((?:\w+ ?)+)`", words)
    assert set(trials.split()) <= set(TRIALS)
    spelt = [s for s in re.findall(r"`([^`\s]+)`", words) if "@" in s and "MODE" not in s]
    assert spelt
    for one in spelt:
        check(Fault.of(one))
