"""A W&B workspace, and a report for each sweep, made from code and saved by ``python -m
judgelab.tracker.dashboard PROJECT``. What is there is replaced. Needs the extra ``dashboard``."""

from __future__ import annotations

import argparse
import io
import netrc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from typing import Any
from urllib.parse import urlparse

from judgelab.core.errors import JudgelabError, require
from judgelab.core.resources import words
from judgelab.core.terminal import say

EXTRA = "dashboard"
BARS, ALL_BARS = "tables/bars", "tables/all_bars"
"""What a run, and a sweep's own run, log for charts: ``judgelab.tracker.protocol.bars``."""
WIDE = 24  # columns of W&B's grid
PLAN: Mapping[str, Any] = words("tracker/words/dashboard.yaml")  # sections, charts, columns
INTERVALS: Mapping[str, Any] = words("tracker/words/intervals.yaml")
"""The preset that draws bars with intervals, in Vega-Lite."""


def workspace(entity: str, project: str) -> Any:
    """The saved view of a project: all runs, grouped, with the columns that matter."""
    ws, preset = require("wandb_workspaces.workspaces", EXTRA), f"{entity}/{PLAN['chart']}"
    return ws.Workspace(
        entity=entity,
        project=project,
        name=PLAN["workspace"],
        auto_generate_panels=False,
        sections=[
            ws.Section(
                name=section["name"],
                panels=[*_charts(section, preset, BARS), *_tables(section.get("compared", ()))],
                layout_settings=ws.SectionLayoutSettings(columns=2, rows=2),
                is_open=True,
            )
            for section in PLAN["sections"]
        ],
        runset_settings=ws.RunsetSettings(
            groupby=[ws.Config(f"axes.{axis}") for axis in PLAN["group_by"]],
            order=[ws.Ordering(ws.Summary(PLAN["order_by"]), ascending=False)],
            pinned_columns=list(PLAN["columns"]),
        ),
    )


def report(entity: str, project: str, sweep: str) -> Any:
    """The report of one sweep, from the sweep's own run; W&B is asked for the project's id when it
    is turned into JSON."""
    wr = require("wandb_workspaces.reports.v2", EXTRA)
    name, where = sweep.replace("'", "\\'"), {"entity": entity, "project": project}
    only = f"Metric('Group') == '{name}' and Metric('JobType') == 'sweep'"

    def grid(panels: Iterator[Any]) -> Any:
        return wr.PanelGrid(runsets=[wr.Runset(**where, filters=only)], panels=list(panels))

    preset = f"{entity}/{PLAN['chart']}"
    tables = [key for section in PLAN["sections"] for key in section.get("compared", ())]
    blocks = [wr.P(PLAN["report"]["description"]), wr.H2("Comparison"), grid(_tables(tables))]
    for section in (one for one in PLAN["sections"] if one["charts"]):
        blocks += [wr.H2(section["name"]), grid(_charts(section, preset, ALL_BARS))]
    return wr.Report(**where, title=sweep[:128], blocks=blocks, width="fluid")


def _charts(section: Mapping[str, Any], preset: str, table: str) -> Iterator[Any]:
    wr = require("wandb_workspaces.reports.v2", EXTRA)
    for place, chart in enumerate(section["charts"]):
        yield wr.CustomChart(
            query={"summaryTable": {"tableKey": table}},
            chart_name=preset,
            chart_fields={
                **{key: key for key in ("statistic", "value", "low", "high")},
                **{key: chart[key] for key in ("rows", "colours")},
            },
            chart_strings={key: chart[key] for key in ("title", "statistic")},
            layout=wr.Layout(x=place % 2 * WIDE // 2, y=place // 2 * 9, w=WIDE // 2, h=9),
        )


def _tables(keys: Sequence[str]) -> Iterator[Any]:
    wr = require("wandb_workspaces.reports.v2", EXTRA)
    for key in keys:
        yield wr.WeavePanelSummaryTable(table_name=key, layout=wr.Layout(w=WIDE, h=12))


def save(entity: str | None, project: str) -> list[str]:
    """Save a project's workspace (the user's own, without an entity) and a report for each sweep;
    returns their addresses (JudgelabError: a package is missing, or the server refused)."""
    wandb, _ = require("wandb", "wandb"), require("wandb_workspaces", EXTRA)
    ws = require("wandb_workspaces.workspaces", EXTRA)
    try:
        with redirect_stderr(io.StringIO()):  # W&B's own lines
            api = wandb.Api()
            entity = entity or api.default_entity
            path = f"{entity}/{project}"
            view, chart = workspace(entity, project), PLAN["chart"]
            identity = {"entity": entity, "name": chart, "display_name": chart}
            try:
                api.create_custom_chart(
                    **identity, spec_type="vega2", access="private", spec=dict(INTERVALS)
                )
            except Exception as cause:
                if "exist" not in str(cause).lower():  # one that is there already stays
                    raise
            # what W&B calls a view whose address ends in nw=NAME, so that it is found again
            view._internal_name = f"nw-{view.name}-v"
            try:
                before = ws.Workspace.from_url(f"https://wandb.ai/{path}?nw={view.name}")
                view._internal_id = before._internal_id
            except ValueError:  # there is none
                pass
            addresses = [str(view.save().url)]
            ids = {one.display_name: one.id for one in api.reports(path)}
            runs = api.runs(path, filters={"jobType": "sweep"}, order="-created_at")
            for sweep in dict.fromkeys(str(run.group) for run in runs):
                page = report(entity, project, sweep)
                page.id = ids.get(page.title, page.id)
                addresses.append(str(page.save().url))
    except JudgelabError:
        raise
    except Exception as cause:  # W&B's own, of several families
        reason = " ".join(str(cause).split())[:200]
        raise JudgelabError(f"W&B did not take the dashboard of {project}: {reason}.") from cause
    return addresses


def credentials_mode() -> str:
    """WANDB_MODE if set; online if a key for the server is at hand; else offline."""
    if mode := os.environ.get("WANDB_MODE"):
        return mode
    if os.environ.get("WANDB_API_KEY"):
        return "online"
    host = urlparse(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    try:
        login = netrc.netrc(os.environ.get("NETRC")).authenticators(host)
    except (OSError, netrc.NetrcParseError):
        return "offline"
    return "online" if login else "offline"


def main(arguments: Sequence[str] | None = None) -> None:
    """Save, and print addresses; exit code 1 and a sentence on a fault."""
    parser = argparse.ArgumentParser(
        prog="python -m judgelab.tracker.dashboard",
        description="Save a W&B workspace of a project, and a report for each of its sweeps.",
    )
    parser.add_argument("project", help="PROJECT, or ENTITY/PROJECT")
    entity, _, project = parser.parse_args(arguments).project.rpartition("/")
    if credentials_mode() != "online":
        say("No credentials of W&B (wandb login, or WANDB_API_KEY), so nothing was sent.")
        return
    try:
        say("\n".join(save(entity or None, project)))
    except JudgelabError as cause:
        sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
