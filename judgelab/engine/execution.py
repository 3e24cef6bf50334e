"""One execution of a run: where it lies, whether what finished there holds, and its manifest."""

from __future__ import annotations

import io
import platform
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import judgelab
from judgelab.config import WRITER, build
from judgelab.config.targets import located
from judgelab.core.errors import JudgelabError
from judgelab.core.resources import PACKAGE
from judgelab.engine.invocation import Invocation
from judgelab.store.fingerprint import code_digest, fingerprint
from judgelab.store.run_dir import RunDir

PACKAGES = (
    *("numpy", "scipy", "pandas", "xarray", "pyppmd", "hydra-core", "wandb", "openai"),
    *("torch", "transformers", "tokenizers", "peft", "bitsandbytes", "vllm"),
)
LINES = 60  # of profile.txt


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


def manifest(started: float) -> dict[str, Any]:
    """The head of a run's manifest.json.

    Args:
        started: seconds since 1970.
    """
    return {
        "judgelab": judgelab.__version__,
        "code": code_digest(),
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: _version(name) for name in PACKAGES},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 2),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The checkout's commit; None outside a checkout or without git."""
    if not (PACKAGE.parent / ".git").exists():  # a wheel may lie in somebody else's repository
        return None
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


@contextmanager
def profiled(wanted: bool, run_dir: RunDir) -> Iterator[None]:
    """Write the functions that took longest, with all that they call, to ``profile.txt``.

    Only the main thread is seen: calls that workers or threads answer count as waiting.
    """
    if not wanted:
        yield
        return
    import cProfile
    import pstats

    profile = cProfile.Profile()
    try:
        with profile:
            yield
    finally:
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(LINES)
        run_dir.write_text("profile.txt", text.getvalue())
        print(f"profile  {run_dir.path / 'profile.txt'}")
