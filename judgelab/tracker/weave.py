"""Weave: every judged call of a run as a row of one evaluation, beside what W&B shows of the run.

``python -m judgelab.tracker.weave FOLDER`` sends a finished run at any time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from judgelab.core.errors import JudgelabError
from judgelab.core.result import Result, plain
from judgelab.core.terminal import say
from judgelab.endpoint.body import cleaner
from judgelab.store.run_dir import RunDir
from judgelab.tracker.headline import headline, in_words, with_people
from judgelab.tracker.judged_calls import judged_calls
from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep
from judgelab.tracker.wandb import WandbTracker
from judgelab.tracker.wandb_artifacts import data_facts
from judgelab.tracker.wandb_open import credentials_mode
from judgelab.tracker.weave_sending import EXTRA

COMMAND = "python -m judgelab.tracker.weave"
SECRETS = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
"""In names of environment variables whose values leave this machine in no text."""
SECONDS, SECONDS_PER_CALL = 120.0, 0.1
"""After which sending is given up."""


@dataclass(frozen=True)
class WeaveTracker:
    """What ``tracker=wandb`` shows, and each judged call in Weave, with its prompt and reply.

    Args:
        project, entity: where runs and evaluations go.
        mode: of W&B; nothing is sent to Weave where it is offline.
        texts: whether W&B's artifact of a run holds texts too; Weave gets them in any case.
        timeout: seconds to wait for an answer of a server.
        dashboard: save W&B's workspace too, and a report of a sweep.
    """

    project: str = "judgelab"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    texts: bool = False
    timeout: float = 20.0
    dashboard: bool = False

    @property
    def wandb(self) -> WandbTracker:
        """The tracker of runs and sweeps."""
        return WandbTracker(**asdict(self))

    def follow(self, run: TrackedRun) -> WeaveMirror:
        """A mirror that sends calls when the run has finished."""
        return WeaveMirror(self, run)

    def compare(self, sweep: TrackedSweep) -> str | None:
        """As W&B shows it."""
        return self.wandb.compare(sweep)


class WeaveMirror(Mirror):
    """One run in W&B, and its evaluation in Weave."""

    def __init__(self, tracker: WeaveTracker, run: TrackedRun) -> None:
        self._tracker, self._run = tracker, run
        self._wandb = tracker.wandb.follow(run)

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """W&B's."""
        self._wandb.point(curve, row)

    def publish(self, result: Result) -> str | None:
        """Both addresses; where Weave gets nothing, it is said why, and what sends it later."""
        place = self._wandb.publish(result)
        if place is None:
            return None
        try:
            return f"{place}; {self._send(result)}"
        except JudgelabError as cause:
            say(f"warning: {cause}", sys.stderr)
            return place

    def close(self) -> None:
        """W&B's."""
        self._wandb.close()

    def _send(self, result: Result) -> str:
        mode = self._tracker.wandb.destination.mode
        found = payload(self._run, result, _project(self._tracker.entity, self._tracker.project))
        known = self._wandb.home
        if known is not None:
            entity, project, found["wandb_run"] = known
            found["project"] = f"{entity}/{project}"
        return sent(found, self._run.folder, mode, self._tracker.timeout)


def payload(run: TrackedRun, result: Result, project: str) -> dict[str, Any]:
    """What is sent of a run, as plain values.

    Args:
        run: complete on disk.
        result: of the run.
        project: ENTITY/PROJECT, or PROJECT of the user's own entity.
    """
    rows = [row for table in result.tables if table.name == "correlations" for row in table.rows]
    summary = with_people(result.summary, rows)
    about = {"run": run.folder.name, "sweep": run.sweep, "axes": dict(run.axes)}
    by = [one.line for one in result.estimators]
    facts = data_facts(result.provenance) or {}
    name = f"{result.summary.get('mechanism') or result.summary.get('study') or 'judges'}"
    return {
        "project": project,
        "name": run.name,
        "model": {"name": name, "estimators": by},
        "dataset": {"name": str(facts.get("dataset", "data")), "rows": [facts or about]},
        "attributes": {"judgelab": about},
        "summary": plain(
            {**in_words(result.answer), **summary, **headline(summary, result.primary)}
        ),
        "calls": [vars(one) for one in judged_calls(RunDir(run.folder))],
        "wandb_run": None,
    }


def sent(found: Mapping[str, Any], folder: Path, mode: str, timeout: float) -> str:
    """Send it; where it is, and how much.

    Raises:
        JudgelabError: there are no credentials, or not all of it arrived; says what sends it.
    """
    calls = len(found["calls"])
    what = f"{calls:,} judgment{'' if calls == 1 else 's'}"
    if not calls:
        return "Weave: nothing to send, as the run keeps no texts"
    later = f"{COMMAND} {folder}"
    if mode != "online":
        raise JudgelabError(
            f"Weave: {what} not sent, as W&B is offline here; with credentials (wandb login, or "
            f"WANDB_API_KEY): {later}"
        )
    if importlib.util.find_spec("weave") is None:
        raise JudgelabError(
            f"Weave: {what} not sent, as it is not installed (pip install -e '.[{EXTRA}]'); "
            f"then: {later}"
        )
    try:
        return f"Weave: {_send(found, timeout)} ({what})"
    except JudgelabError as cause:
        raise JudgelabError(
            f"Weave: not all of {what} arrived ({cause}); the run is kept, and sent again by "
            f"{later}"
        ) from cause


def _send(found: Mapping[str, Any], timeout: float) -> str:
    """The evaluation's address."""
    text = json.dumps(_blotted({**found, "timeout": timeout}), default=str)
    limit = SECONDS + SECONDS_PER_CALL * len(found["calls"])
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    try:
        child = subprocess.run(
            [sys.executable, "-m", "judgelab.tracker.weave_sending"],
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=limit,
            env={**os.environ, "PYTHONPATH": path, "WANDB_ERROR_REPORTING": "false"},
        )
        answer = json.loads(child.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired as cause:
        raise JudgelabError(f"no end after {limit:.0f} seconds") from cause
    except (IndexError, ValueError) as cause:
        said = " ".join(child.stderr.split())[-200:]
        raise JudgelabError(redacted(f"its process ended: {said}")) from cause
    if "place" in answer:
        return str(answer["place"])
    raise JudgelabError(redacted(str(answer["cause"])))


def _blotted(value: Any) -> Any:
    """Every text in it ``redacted``; numbers stay numbers."""
    if isinstance(value, Mapping):
        return {redacted(str(key)): _blotted(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_blotted(one) for one in value]
    return redacted(value) if isinstance(value, str) else value


def redacted(text: str) -> str:
    """Without the keys, tokens and passwords of this process's environment."""
    for name, value in os.environ.items():
        if SECRETS.search(name):
            text = cleaner(value)(text)
    return text


def _project(entity: str | None, project: str) -> str:
    return f"{entity}/{project}" if entity else project


def main(given: Sequence[str] | None = None) -> None:
    """Send finished runs; exit code 1 and a sentence on a fault."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Send the judged calls of finished runs to Weave."
    )
    parser.add_argument("folder", type=Path, nargs="+", help="a run directory")
    parser.add_argument("--project", help="PROJECT, or ENTITY/PROJECT (that of the run's config)")
    chosen = parser.parse_args(given)
    for folder in chosen.folder:
        try:
            found, config = Result.read(folder), _config(folder)
        except (OSError, ValueError) as cause:
            sys.exit(f"error: {folder} is not the folder of a finished run ({cause}).")
        shown = config.get("tracker") or {}
        project = _project(shown.get("entity"), shown.get("project", WeaveTracker.project))
        axes = RunDir(folder).read_json("manifest.json").get("choices", {})
        run = TrackedRun(folder, config, None, folder.name, axes)
        asked = payload(run, found, chosen.project or project)
        try:
            said = sent(asked, folder, credentials_mode(), WeaveTracker.timeout)
        except JudgelabError as cause:
            sys.exit(f"error: {cause}")
        say(f"{folder.name}: {said}")


def _config(folder: Path) -> Mapping[str, Any]:
    import yaml

    return dict(yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
