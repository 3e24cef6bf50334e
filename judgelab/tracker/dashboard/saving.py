"""Saving a dashboard: what is there already is replaced, so that saving twice leaves one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from typing import Any

from judgelab.core.errors import JudgelabError, require
from judgelab.tracker.dashboard.layout import EXTRA, interval_chart, report, shown, workspace


def save(entity: str | None, project: str, sweeps: Sequence[str] | None = None) -> list[str]:
    """Save the workspace of a project and a report for each sweep; returns their addresses.

    Args:
        entity: None for the user's own.
        project: W&B's.
        sweeps: their names; None for all that the project holds.

    Raises:
        JudgelabError: a package is missing, or the server refused.
    """
    wandb = require("wandb", extra="wandb")
    require("wandb_workspaces", EXTRA)
    try:
        with redirect_stderr(io.StringIO()):  # W&B's own lines
            api = wandb.Api()
            entity = entity or api.default_entity
            _save_chart(api, entity)
            made = [_save_workspace(entity, project)]
            known = {one.display_name: one.id for one in api.reports(f"{entity}/{project}")}
            for sweep in _of(api, f"{entity}/{project}") if sweeps is None else sweeps:
                made.append(_save_report(entity, project, sweep, known.get(sweep[:128])))
    except JudgelabError:
        raise
    except Exception as cause:  # W&B's own, of several families
        said = " ".join(str(cause).split())[:200]
        raise JudgelabError(f"W&B did not take the dashboard of {project}: {said}.") from cause
    return made


def _of(api: Any, path: str) -> list[str]:
    """Names of a project's sweeps, the newest first."""
    runs = api.runs(path, filters={"jobType": "sweep"}, order="-created_at")
    return list(dict.fromkeys(str(run.group) for run in runs))


def _save_chart(api: Any, entity: str) -> None:
    """The preset of the charts; one that is there already stays."""
    name = shown()["chart"]
    try:
        api.create_custom_chart(
            entity=entity,
            name=name,
            display_name=name,
            spec_type="vega2",
            access="private",
            spec=dict(interval_chart()),
        )
    except Exception as cause:
        if "exist" not in str(cause).lower():
            raise


def _save_workspace(entity: str, project: str) -> str:
    """Under one name in its address, so that it is found again."""
    ws, made = require("wandb_workspaces.workspaces", EXTRA), workspace(entity, project)
    name = made.name
    made._internal_name = f"nw-{name}-v"  # what W&B calls a view whose address ends in nw=NAME
    try:
        before = ws.Workspace.from_url(f"https://wandb.ai/{entity}/{project}?nw={name}")
        made._internal_id = before._internal_id
    except ValueError:  # there is none
        pass
    return str(made.save().url)


def _save_report(entity: str, project: str, sweep: str, known: str | None) -> str:
    made = report(entity, project, sweep)
    if known is not None:
        made.id = known
    return str(made.save().url)
