"""A W&B workspace, and a report for each sweep, made from code: what they show, and saving them.

``python -m judgelab.tracker.dashboard PROJECT`` saves them, and says without credentials what it
would make. What is there already is replaced, so that saving twice leaves one. Needs the extra
``dashboard``.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from typing import Any

from judgelab.core.errors import JudgelabError, require
from judgelab.core.resources import words
from judgelab.core.terminal import say
from judgelab.tracker.wandb_open import credentials_mode

EXTRA = "dashboard"
BARS, ALL_BARS = "tables/bars", "tables/all_bars"
"""What a run, and a sweep's own run, log for charts: ``judgelab.tracker.headline.bars``."""
WIDE = 24  # columns of W&B's grid
NOBODY = (
    "No credentials of W&B (wandb login, or WANDB_API_KEY), so nothing was sent. With them this "
    "command makes:"
)


def shown() -> Mapping[str, Any]:
    """The dashboard in words: sections, charts, columns."""
    found: Mapping[str, Any] = words("tracker/words/dashboard.yaml")
    return found


def interval_chart() -> Mapping[str, Any]:
    """The preset that draws bars with intervals, in Vega-Lite."""
    found: Mapping[str, Any] = words("tracker/words/intervals.yaml")
    return found


def described(project: str) -> list[str]:
    """What would be made, in lines for a terminal; needs no package."""
    plan = shown()
    lines = [f"In {project}:", f"  workspace {plan['workspace']!r}"]
    lines.append(
        f"    runs grouped by {', '.join(plan['group_by'])}, best {plan['order_by']} first"
    )
    columns = [column.rpartition(":")[2].rpartition(".")[2] for column in plan["columns"]]
    lines.append(f"    columns: {', '.join(columns)}")
    for section in plan["sections"]:
        names = [*(chart["title"] for chart in section["charts"]), *section.get("compared", ())]
        lines.append(f"    section {section['name']!r}: {'; '.join(names)}")
    lines.append("  a report for each sweep: its comparison, its charts, its figures")
    return [*lines, f"  a chart preset {plan['chart']!r}: bars with intervals"]


def workspace(entity: str, project: str) -> Any:
    """The saved view of a project: all runs, grouped, with the columns that matter.

    Args:
        entity, project: W&B's.
    """
    ws, plan = require("wandb_workspaces.workspaces", EXTRA), shown()
    preset = f"{entity}/{plan['chart']}"
    return ws.Workspace(
        entity=entity,
        project=project,
        name=plan["workspace"],
        auto_generate_panels=False,
        sections=[
            ws.Section(
                name=section["name"],
                panels=[*_charts(section, preset, BARS), *_compared(section.get("compared", ()))],
                layout_settings=ws.SectionLayoutSettings(columns=2, rows=2),
                is_open=True,
            )
            for section in plan["sections"]
        ],
        runset_settings=ws.RunsetSettings(
            groupby=[ws.Config(f"axes.{axis}") for axis in plan["group_by"]],
            order=[ws.Ordering(ws.Summary(plan["order_by"]), ascending=False)],
            pinned_columns=list(plan["columns"]),
        ),
    )


def report(entity: str, project: str, sweep: str) -> Any:
    """The report of one sweep, from the sweep's own run.

    W&B is asked for the project's id when the report is turned into JSON.
    """
    wr, plan = require("wandb_workspaces.reports.v2", EXTRA), shown()
    name, where = sweep.replace("'", "\\'"), {"entity": entity, "project": project}
    only = f"Metric('Group') == '{name}' and Metric('JobType') == 'sweep'"

    def grid(panels: Iterator[Any]) -> Any:
        return wr.PanelGrid(runsets=[wr.Runset(**where, filters=only)], panels=list(panels))

    preset = f"{entity}/{plan['chart']}"
    compared = [key for section in plan["sections"] for key in section.get("compared", ())]
    blocks = [wr.P(plan["report"]["description"]), wr.H2("Comparison"), grid(_compared(compared))]
    for section in (one for one in plan["sections"] if one["charts"]):
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


def _compared(keys: Sequence[str]) -> Iterator[Any]:
    """Tables as they are."""
    wr = require("wandb_workspaces.reports.v2", EXTRA)
    for key in keys:
        yield wr.WeavePanelSummaryTable(table_name=key, layout=wr.Layout(w=WIDE, h=12))


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


def main(given: Sequence[str] | None = None) -> None:
    """Save, and print addresses; exit code 1 and a sentence on a fault."""
    parser = argparse.ArgumentParser(
        prog="python -m judgelab.tracker.dashboard",
        description="Save a W&B workspace of a project, and a report for each of its sweeps.",
    )
    parser.add_argument("project", help="PROJECT, or ENTITY/PROJECT")
    parser.add_argument("--sweep", action="append", help="its name (all sweeps of the project)")
    chosen = parser.parse_args(given)
    entity, _, project = chosen.project.rpartition("/")
    if credentials_mode() != "online":
        say("\n".join([NOBODY, *described(chosen.project)]))
        return
    try:
        say("\n".join(save(entity or None, project, chosen.sweep)))
    except JudgelabError as cause:
        sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
