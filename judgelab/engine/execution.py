"""One execution of a run: how it was called for, where it lies, whether what finished there holds,
its manifest, what a tracker sees of it, and the numbers of a paper that belong to it."""

from __future__ import annotations

import csv
import platform
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL, CalledProcessError, check_output
from typing import Any

from omegaconf import OmegaConf

import judgelab
from judgelab.config import AXES, build
from judgelab.config.composing import as_typed
from judgelab.config.prompts import prompts_table
from judgelab.config.targets import located, names_lm, walk
from judgelab.core.errors import ConfigError, JudgelabError, some
from judgelab.core.resources import PACKAGE, conf, own_or_shipped
from judgelab.core.result import Result, Value
from judgelab.core.terminal import say
from judgelab.engine.sweep import SweepName
from judgelab.report.jobs import SweepJob, job_name, setting
from judgelab.store.fingerprint import code_digest, fingerprint, version_of
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import SHOWN, Careful, TrackedRun, Tracker

PACKAGES = (
    *("numpy", "scipy", "pandas", "xarray", "pyppmd", "hydra-core", "wandb", "openai"),
    *("torch", "transformers", "tokenizers", "peft", "bitsandbytes", "vllm"),
)


@dataclass(frozen=True)
class Invocation:
    """What is true of a call by a command line, as a job of a multirun, or from Python, and changes
    no number."""

    words: Sequence[str] | None = None  # overrides; None where the config did not come from words
    choices: Mapping[str, str] = field(default_factory=dict)  # config group -> option, where known
    folders: Sequence[str] = ()  # of configs, that the command line named
    job: Path | None = None  # its folder within a multirun
    sweep: Path | None = None  # the folder of the multirun
    quiet: bool = False  # leave it to the caller to show what was found

    @classmethod
    def of(cls, hydra: Any, **rest: Any) -> Invocation:
        """Of the ``hydra`` node of a composed config."""
        sources = [source for source in hydra.runtime.config_sources if source.schema == "file"]
        return cls(
            words=[as_typed(word) for word in hydra.overrides.task],
            choices={str(key): str(value) for key, value in hydra.runtime.choices.items()},
            folders=[source.path for source in sources if source.provider == "command-line"],
            **rest,
        )

    def with_critic(self) -> Invocation:
        """The same where the LM that was chosen as critic is the evaluation LM."""
        critic = self.choices.get("evaluation_lm@lms.critic")
        own = {"evaluation_lm": critic} if critic else {}
        return replace(self, choices={**self.choices, **own})

    def option(self, axis: str, config: Mapping[str, Any]) -> str:
        """The option chosen on an axis; where that is not known, the module of its class."""
        return str(self.choices.get(axis) or config[axis]["_target_"].split(".")[-2])


def folder(runs: Path, config: Mapping[str, Any], call: Invocation) -> Path:
    """Where the run lies: STUDY-MECHANISM-DATASET-ATTACK-FINGERPRINT, as its study names runs. One
    that is there is found by its fingerprint: its study is not even imported."""
    digits, study = fingerprint(config), config["study"]
    for there in runs.glob(f"*-{digits}"):
        return there
    # of the scores of another run, whose mechanism this config does not name, by its study alone
    axes = () if study.get("run") else located(study["_target_"], "study").named_by
    return runs / "-".join([*(call.option(axis, config) for axis in ("study", *axes)), digits])


def holds(run_dir: RunDir, config: Mapping[str, Any]) -> bool:
    """Whether what finished here is whole, and its data and LMs are what they were: data of a
    branch of the Hub, not of a commit, may not be; what is out of reach now is taken to be."""
    if names := run_dir.altered_files():
        say(
            f"{some(names)} in {run_dir.path} changed since the run finished, so it is made again; "
            "what was asked is not asked again."
        )
        return False
    manifest, asked = run_dir.read_json("manifest.json"), set[str]()
    for path, node in walk(config):
        within = (role for role in manifest if f"{path}.".startswith(f"{role}."))
        role = max(within, key=len, default="")  # an LM's account, which stands under its place
        with suppress(JudgelabError):
            if role and role not in asked and names_lm(node, path):
                asked.add(role)  # an LM within this one is part of its identity
                account = manifest if role == "evaluation_lm" else manifest[role]
                if build(node, path).identity != account["evaluation_lm"]:
                    return False
    dataset = config["dataset"]
    revision = str((dataset.get("hub") or {}).get("revision"))
    return dataset.get("source") != "hub" or re.fullmatch(r"[0-9a-f]{40}", revision) is not None


def manifest(
    start: float, call: Invocation, config: Mapping[str, Any], named_by: Sequence[str]
) -> dict[str, Any]:
    """The head of the manifest.json of a run that began at ``start`` (seconds since 1970)."""
    folders = (f"--config-dir={folder}" for folder in call.folders)
    return {
        "judgelab": judgelab.__version__,
        "code": code_digest(),
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: version_of(name) for name in PACKAGES},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
        "seconds": round(time.time() - start, 2),
        # what composes the config again on the command line; None where nothing does
        "overrides": None if call.words is None else [*folders, *call.words],
        "choices": {axis: call.option(axis, config) for axis in AXES},
        "named_by": list(named_by),
        "prompts": prompts_table(config),
    }


def tracked_run(
    run_dir: RunDir, config: Mapping[str, Any], call: Invocation, named_by: Sequence[str]
) -> TrackedRun:
    """A run; a job of a multirun is called by what it alone has, and any other by its folder. A
    study that is not ``named_by`` the mechanism chooses its judges itself."""
    axes = SHOWN if "mechanism" in named_by else ("study", *named_by)
    options = {axis: call.option(axis, config) for axis in axes}
    if call.sweep is None:
        return TrackedRun(run_dir.path, config, None, run_dir.path.name, options)
    sweep = SweepName.read(call.sweep)
    job = SweepJob(0, tuple(call.words or ()), call.choices, None, None, None)
    name = job_name(job, sweep.varies) or run_dir.path.name
    varied = {key: setting(job, key) for key in sweep.varies}
    return TrackedRun(run_dir.path, config, sweep.name, name, options | varied)


def catch_up(tracker: Tracker, run: TrackedRun, run_dir: RunDir) -> None:
    """Publish a run that was finished before, where no tracker shows it yet."""
    manifest = run_dir.read_json("manifest.json")
    if str(manifest.get("tracker") or "failed").startswith("failed"):
        place = Careful(tracker, run).publish(Result.read(run_dir.path))
        if place is not None:
            run_dir.write_json("manifest.json", manifest | {"tracker": place})


def _commit() -> str | None:
    """The checkout's commit; None outside a checkout or without git."""
    if (PACKAGE.parent / ".git").exists():  # a wheel may lie in somebody else's repository
        with suppress(OSError, CalledProcessError):
            command = ["git", "rev-parse", "HEAD"]
            return check_output(command, cwd=PACKAGE, text=True, stderr=DEVNULL).strip()
    return None


def printed_numbers(file: str, call: Invocation, config: Mapping[str, Any]) -> dict[str, Value]:
    """``printed/STATISTIC`` -> the paper's own number, for a run of this config.

    ``file`` is a CSV with a row a cell: the settings that a run has (columns are keys of the
    config, or axes; an empty cell is any), ``statistic`` (a key of the run's summary, or
    TABLE/ROW/COLUMN where the study compares its tables), ``value`` (ConfigError: it is absent, or
    no such table).
    """
    path = own_or_shipped(file, conf() / "papers" / "numbers")
    settings = OmegaConf.create(dict(config))

    def fits(key: str, cell: str) -> bool:
        return cell in ("", str(call.choices.get(key) or OmegaConf.select(settings, key)))

    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [(row.pop("statistic"), row.pop("value"), row) for row in csv.DictReader(stream)]
        return {
            f"printed/{statistic}": float(value)
            for statistic, value, row in rows
            if all(fits(key, cell) for key, cell in row.items())
        }
    except (OSError, UnicodeDecodeError, KeyError, ValueError) as cause:
        raise ConfigError(
            f"printed={file!r} is no table of printed numbers: settings, statistic and value."
        ) from cause
