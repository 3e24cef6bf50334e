"""One run, start to end: check, recognise, study, write, mirror, DONE. Nothing else knows this."""

from __future__ import annotations

import json
import logging
import math
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

import judgelab
from judgelab.config import WRITER, Frame, build, frame, resolved
from judgelab.config.launch import sentence
from judgelab.config.targets import check_targets, named_by_user, trusting
from judgelab.core.errors import DataError, JudgelabError, PartialRunError
from judgelab.core.resources import PACKAGE
from judgelab.core.result import Result
from judgelab.core.terminal import say
from judgelab.engine.context import Context
from judgelab.engine.invocation import Invocation
from judgelab.engine.mirroring import catch_up, tracked
from judgelab.engine.models import Models
from judgelab.engine.partial import Partial, forget, nothing_yet, partial
from judgelab.engine.parts import Parts, build_parts
from judgelab.engine.profiling import profiled
from judgelab.engine.unscored import with_reasons
from judgelab.report import console, page
from judgelab.scale.local import Scale, alone
from judgelab.store.fingerprint import code_digest, fingerprint
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import Careful, Tracker

log = logging.getLogger("judgelab")


def run(cfg: DictConfig) -> float:
    """Run the study of a Hydra job and return its primary metric (NaN where it is unscored).

    A fault ends the process with one sentence and exit code 1; in a sweep it is noted for the
    comparison table instead, and the job returns NaN (``on_error=stop`` ends the sweep).
    """
    hydra = HydraConfig.get()
    job = Path(hydra.runtime.output_dir) if hydra.mode == RunMode.MULTIRUN else None
    call = Invocation.under_hydra(job)
    try:
        return execute(cfg, sweep=job)
    except Exception as cause:
        if OmegaConf.select(cfg, "debug.traceback"):
            raise
        message, code = sentence(cause), getattr(cause, "exit_code", 1)
        overrides = " ".join(hydra.overrides.task)
        word = "" if isinstance(cause, PartialRunError) else "error"  # its sentence says so itself
        lead = " ".join(filter(None, [word, f"in {overrides}" if job else ""]))
        say(f"{lead}: {message}" if lead else message, sys.stderr)
        if job is None or cfg.on_error == "stop":
            raise SystemExit(code) from cause
        if isinstance(cause, PartialRunError) and cause.run is not None:
            _note(call, status="partial", error=message, run=str(cause.run))
        else:
            _note(call, status="failed", error=message)
        return math.nan


@dataclass(frozen=True)
class _Job:
    """One run: its config, where it is written, and who called for it."""

    config: Mapping[str, Any]
    settings: Frame
    run_dir: RunDir
    call: Invocation


def execute(
    cfg: DictConfig, sweep: Path | None = None, trusted_packages: Sequence[str] = ()
) -> float:
    """The run itself, for Hydra jobs and for Python callers; its primary metric.

    Args:
        cfg: a composed config.
        sweep: the job's folder within a multirun, or None.
        trusted_packages: whose classes the config may name beside judgelab's.

    Raises:
        JudgelabError: a fault of the config, the data or the LM.
    """
    run_dir = carry_out(cfg, Invocation.under_hydra(sweep), trusted_packages)
    if run_dir is None:
        return math.nan
    written = run_dir.read_json("result.json")
    value = written["summary"].get(written["primary"])
    return math.nan if value is None else float(value)


def carry_out(
    cfg: DictConfig, call: Invocation, trusted_packages: Sequence[str] = ()
) -> RunDir | None:
    """As ``execute``, but where everything lies; None of a dry run, which keeps nothing."""
    config = resolved(cfg)
    settings = frame(config)
    config.pop("trusted_packages", None)  # what is kept of a run vouches for no code
    with trusting(named_by_user(settings.trusted_packages, trusted_packages)):
        check_targets(config)
        return _begin(config, settings, call)


def _begin(config: Mapping[str, Any], settings: Frame, call: Invocation) -> RunDir | None:
    if settings.dry_run:
        from judgelab.engine.dry_run import dry_run

        dry_run(build_parts(config), settings)
        return None
    tracker, scale = build(config["tracker"], "tracker"), build(config["scale"], "scale")
    name = f"{_named(config, call)}-{fingerprint(config)}"
    run_dir = RunDir(Path(settings.paths.root) / "runs" / name)
    # The fingerprint of a finished run vouches for its config: its study is not even imported.
    finished = run_dir.done and not settings.force and settings.retry is None
    parts = None if finished else build_parts(config)
    with run_dir.lock():
        if finished and not _moved(config, run_dir):
            if not call.quiet:
                say(f"Finished before, nothing to do (force=true repeats it): {run_dir.path}")
                console.show(run_dir.read_json("result.json"), run_dir.path)
            catch_up(tracker, tracked(run_dir, config, call), run_dir)
        else:
            if not run_dir.done:  # interrupted: the same command continues it, forced or not
                settings = replace(settings, force=False)
            run_dir.reopen()
            job = _Job(config, settings, run_dir, call)
            still = _execute(job, parts or build_parts(config), tracker, scale)
            if still is not None:
                raise PartialRunError(still.sentence, run_dir.path)
            run_dir.finish()
    if call.job is not None:
        _note(call, status="done", run=str(run_dir.path))
    return run_dir


def _execute(job: _Job, parts: Parts, tracker: Tracker, scale: Scale) -> Partial | None:
    """Run, write and mirror; what is open is returned, and such a run is not mirrored."""
    started = time.time()
    run_dir, call = job.run_dir, job.call
    models = Models(job.settings, run_dir.path, call.sweep)
    parts = parts.with_lms(models.use)
    mirror = Careful(tracker, tracked(run_dir, job.config, call))
    context = replace(_context(job, parts, models, scale), draw=mirror.point)
    run_dir.write_text("config.yaml", yaml.safe_dump(dict(job.config), sort_keys=False))
    try:
        with profiled(job.settings.debug.profile, run_dir):
            result = _found(parts, context, models)
        still = partial(models.outcomes, models.until)
        result = with_reasons(result, models.outcomes, run_dir, context.mechanism.name)
        result = models.with_answered(result)
        accounts = models.accounts()
    except BaseException:
        mirror.close()
        raise
    finally:
        scale.close()
        models.close()
    try:
        made = result.to_json()
        run_dir.write_json("result.json", made if still is None else still.marked(made))
        # The answer first: figures, page and tracker take longer than a study of arithmetic.
        if not call.quiet:
            console.show(run_dir.read_json("result.json"), run_dir.path)
        said = {"overrides": call.overrides, "choices": call.options(job.config)}
        manifest = _manifest(started) | said | accounts
        run_dir.write_json("manifest.json", manifest)
        forget(run_dir)
        page.write(run_dir)
    except BaseException:
        mirror.close()
        raise
    if still is not None:
        mirror.close()
        return still
    manifest["tracker"] = mirror.publish(result)
    run_dir.write_json("manifest.json", manifest)
    return None


def _found(parts: Parts, context: Context, models: Models) -> Result:
    """What the study found, after asking again what it is to ask again."""
    if models.retry:
        with tempfile.TemporaryDirectory() as folder:  # with what is kept, to see what is unscored
            parts.study.ask(replace(context, run_dir=RunDir(Path(folder))))
        models.ask_again()
    try:
        return parts.study.run(context)
    except (DataError, ArithmeticError, LookupError, TypeError, ValueError) as cause:
        still = partial(models.outcomes, models.until)
        if still is None:
            raise
        raise nothing_yet(still, cause) from cause


def _context(job: _Job, parts: Parts, models: Models, scale: Scale) -> Context:
    """The context, with LMs that are in use."""
    writer = job.config.get(WRITER)
    return parts.context(
        run_dir=job.run_dir,
        seed=job.settings.seed,
        limit=job.settings.limit,
        force=job.settings.force,
        tell=models.progress.stage,
        spread=models.spread(scale, "evaluation_lm", job.config["evaluation_lm"]),
        # an endpoint that writes asks many calls at once by itself, whatever the scale
        spread_writing=alone
        if writer is None or models.paid(WRITER)
        else models.spread(scale, WRITER, writer),
    )


def _moved(config: Mapping[str, Any], run_dir: RunDir) -> bool:
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


def _named(config: Mapping[str, Any], call: Invocation) -> str:
    """What the run is, in words: mechanism-dataset-attack, or the study if that says more."""
    study = str(config["study"]["_target_"]).split(".")[-2]
    if study == "sample_size":
        return "plan"  # as users ask for it: study=plan
    if config["study"].get("run"):
        return study
    axes: tuple[str, ...] = ("mechanism", "dataset", "attack")
    listed = study == "discernment" and config["study"].get("judges")
    if study == "audit" or listed:  # of several judges, each with its mechanism
        axes = ("study", "dataset")
    return "-".join(call.option(axis, config) for axis in axes)


def _note(call: Invocation, **entries: str) -> None:
    """Leave word for the comparison at the end of the sweep."""
    assert call.job is not None
    text = json.dumps({"overrides": call.words or [], "choices": dict(call.choices), **entries})
    RunDir(call.job).write_text("job.json", text)


def _manifest(started: float) -> dict[str, Any]:
    """What is true of this execution but not of its numbers."""
    names = ["numpy", "scipy", "pandas", "xarray", "pyppmd", "hydra-core", "wandb", "openai"]
    names += ["torch", "transformers", "tokenizers", "peft", "bitsandbytes", "vllm"]
    versions: dict[str, str | None] = {}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "judgelab": judgelab.__version__,
        "code": code_digest(),
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": versions,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 2),
    }


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
