"""What a dashboard shows, as W&B's own objects; nothing is sent. Needs the extra ``dashboard``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgelab.core.errors import require
from judgelab.core.resources import words

EXTRA = "dashboard"
BARS, ALL_BARS = "tables/bars", "tables/all_bars"
"""What a run, and a sweep's own run, log for charts: ``judgelab.tracker.headline.bars``."""
WIDE = 24  # columns of W&B's grid


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
