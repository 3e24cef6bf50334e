"""Where a run lies, and whether what finished there is still of the same data and LMs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgelab.config import WRITER, build
from judgelab.config.targets import located
from judgelab.core.errors import JudgelabError
from judgelab.engine.invocation import Invocation
from judgelab.store.fingerprint import fingerprint
from judgelab.store.run_dir import RunDir


def folder(runs: Path, config: Mapping[str, Any], call: Invocation) -> Path:
    """Where the run lies: STUDY-MECHANISM-DATASET-ATTACK-FINGERPRINT, as its study names runs.

    A run that is there is found by its fingerprint: its study is not even imported.
    """
    digits = fingerprint(config)
    for there in runs.glob(f"*-{digits}"):
        return there
    # of the scores of another run, whose mechanism this config does not name
    again = config["study"].get("run")
    axes = () if again else located(config["study"]["_target_"], "study").named_by
    return runs / "-".join([*(call.option(axis, config) for axis in ("study", *axes)), digits])


def moved(config: Mapping[str, Any], run_dir: RunDir) -> bool:
    """Whether the data or an LM is another one than when the run finished.

    What cannot be found now (a Hub out of reach) is taken to be what it was.
    """
    made = run_dir.read_json("manifest.json")
    before = {"evaluation_lm": made, WRITER: made.get(WRITER) or {}}
    for role, account in before.items():
        try:
            node = config.get(role)
            now = None if node is None else build(node, role).identity
        except JudgelabError:
            continue
        if now != account.get("evaluation_lm"):
            return True
    return _moves(config["dataset"])


def _moves(dataset: Mapping[str, Any]) -> bool:
    """Whether the data may change under the same config: a branch of the Hub, not a commit."""
    revision = str((dataset.get("hub") or {}).get("revision"))
    return dataset.get("source") == "hub" and re.fullmatch(r"[0-9a-f]{40}", revision) is None
