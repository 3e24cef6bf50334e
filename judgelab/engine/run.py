"""One run, start to end. ``carry_out``: compose, check, recognise, done; ``_make``: measure, score,
write, mirror. Each of their lines opens one thing."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from judgelab.config import Frame, build, fitting, frame, resolved
from judgelab.config.launch import sentence
from judgelab.config.prompts import prompts_table, whose
from judgelab.config.targets import check_targets, named_by_user, trusting
from judgelab.core.errors import DataError, PartialRunError
from judgelab.core.result import Result
from judgelab.core.terminal import say
from judgelab.engine import execution
from judgelab.engine.context import Context, Parts, build_parts, with_lms
from judgelab.engine.execution import Invocation, tracked_run
from judgelab.engine.models import Models
from judgelab.engine.provenance import open_calls, with_reasons
from judgelab.report import console, page
from judgelab.scale.local import Scale
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import Careful, Tracker

REHEARSAL = "Rehearsal: stand-ins answered in place of the paper's models; no number here is one."


def run(cfg: DictConfig) -> float:
    """Run the study of a Hydra job and return its primary metric (NaN where it is unscored). A
    fault ends the process with one sentence and exit code 1; in a sweep it is noted for the
    comparison table instead, and the job returns NaN."""
    hydra = HydraConfig.get()
    multirun = hydra.mode == RunMode.MULTIRUN
    job = Path(hydra.runtime.output_dir) if multirun else None
    call = Invocation.of(hydra, job=job, sweep=Path(hydra.sweep.dir) if multirun else None)
    try:
        run_dir = carry_out(cfg, call)
        if run_dir is None:  # a dry run
            return math.nan
        result = run_dir.read_json("result.json")
        value = result["summary"].get(result["primary"])
        return math.nan if value is None else float(value)
    except Exception as cause:
        if cfg.get("debug"):
            raise
        message, place = sentence(cause), getattr(cause, "run", None)
        word = "" if isinstance(cause, PartialRunError) else "error"  # its sentence says so itself
        where = f"in {' '.join(hydra.overrides.task)}" if job else ""
        say(": ".join(filter(None, [f"{word} {where}".strip(), message])), sys.stderr)
        if job is None:
            raise SystemExit(getattr(cause, "exit_code", 1)) from cause
        status = {"status": "partial", "run": str(place)} if place else {"status": "failed"}
        _note(call, error=message, **status)
        return math.nan


def carry_out(
    cfg: DictConfig, call: Invocation | None = None, trusted_packages: Sequence[str] = ()
) -> RunDir | None:
    """The run itself, for Hydra jobs, verbs and Python callers: where everything lies; None of a
    dry run, which keeps nothing. ``cfg`` is a composed config, which may name classes of
    ``trusted_packages`` beside judgelab's (JudgelabError: a fault of the config, the data or the
    LM)."""
    config, call = resolved(cfg), call or Invocation()  # compose
    settings = frame(config)  # check: keys, types and bounds, then whose classes are named
    config.pop("trusted_packages", None)  # what is kept of a run vouches for no code
    with trusting(named_by_user(settings.trusted_packages, trusted_packages)):
        check_targets(config)
        config, without_effect = fitting(config)
        config, has_critic = with_lms(config)
        call = call.with_critic() if has_critic else call
        for one in without_effect if not call.quiet else ():
            say(one)
        if settings.dry_run:
            from judgelab.engine.dry_run import dry_run

            dry_run(build_parts(config), settings, prompts_table(config))
            return None
        if settings.prompts.get("whose") == "authors" and not call.quiet:
            say(whose(config))
        tracker, scale = build(config["tracker"], "tracker"), build(config["scale"], "scale")
        run_dir = RunDir(execution.folder(Path(settings.paths.root) / "runs", config, call))
        is_finished = run_dir.is_done and not settings.force and settings.retry is None
        # the fingerprint of a finished run vouches for its config: its study is not even imported
        parts = None if is_finished else build_parts(config)
        with run_dir.lock():
            if is_finished and execution.holds(run_dir, config):
                if not call.quiet:
                    say(f"Finished before, nothing to do (force=true repeats it): {run_dir.path}")
                    console.page(console.screen(run_dir.read_json("result.json"), run_dir.path))
                named_by = run_dir.read_json("manifest.json").get("named_by", ())
                execution.catch_up(tracker, tracked_run(run_dir, config, call, named_by), run_dir)
            else:
                _make(parts or build_parts(config), config, settings, call, run_dir, tracker, scale)
                run_dir.finish()  # DONE, last
    if call.job is not None:
        _note(call, status="done", run=str(run_dir.path), without_effect=without_effect)
    return run_dir


def _make(
    parts: Parts,
    config: Mapping[str, Any],
    settings: Frame,
    call: Invocation,
    run_dir: RunDir,
    tracker: Tracker,
    scale: Scale,
) -> None:
    """Measure, score, write and mirror (PartialRunError: calls are open; what there is has been
    written, and no tracker shows it)."""
    began, named_by = time.time(), parts.study.named_by
    if not run_dir.is_done:  # interrupted: the same command continues it, forced or not
        settings = replace(settings, force=False)
    run_dir.reopen()
    run_dir.write_text("config.yaml", yaml.safe_dump(dict(config), sort_keys=False))
    beside = execution.printed_numbers(settings.printed, call, config) if settings.printed else {}
    mirror = Careful(tracker, tracked_run(run_dir, config, call, named_by))
    try:
        with closing(Models(settings, run_dir.path, call.sweep)) as models, closing(scale):
            context = models.context(parts, run_dir, scale, config, mirror.point)
            if settings.retry is not None:
                models.ask_again(context)
            result = _run_study(context, models)
            still = open_calls(models.log, models.until)
            result = with_reasons(result, models.log, run_dir, parts.mechanism.name)
            result, accounts = models.with_answered(result), models.accounts()
        if settings.rehearsal:
            beside |= {"rehearsal": True}
            result = replace(result, notes=[REHEARSAL, *result.notes])
        result = replace(result, summary={**result.summary, **beside})
        record = execution.manifest(began, call, config, named_by) | accounts
        content = result.to_json()
        if still is not None:
            content |= {"notes": [still["sentence"], *result.notes], "partial": still}
        run_dir.write_json("result.json", content)
        if not call.quiet:  # first, as figures and page take longer than a study of arithmetic
            console.page(console.screen(run_dir.read_json("result.json"), run_dir.path))
        run_dir.write_json("manifest.json", record)
        for name in ("tables", "figures"):  # an earlier execution may have had others
            shutil.rmtree(run_dir.path / name, ignore_errors=True)
        page.write(run_dir)
        if still is not None:
            raise PartialRunError(still["sentence"], run_dir.path)
    except BaseException:
        mirror.close()
        raise
    run_dir.write_json("manifest.json", record | {"tracker": mirror.publish(result)})


def _run_study(context: Context, models: Models) -> Result:
    """What the study finds; where it has too few data for want of open calls, that they are."""
    try:
        return context.study.run(context)
    except (DataError, ArithmeticError) as cause:  # all else is a fault of the study itself
        if (still := open_calls(models.log, models.until)) is None:
            raise
        why = " ".join(str(cause).split())
        raise PartialRunError(f"{still['sentence']} There is no result yet ({why})") from cause


def _note(call: Invocation, **entries: str | list[str]) -> None:
    assert call.job is not None
    text = json.dumps({"overrides": call.words or [], "choices": dict(call.choices), **entries})
    RunDir(call.job).write_text("job.json", text)
