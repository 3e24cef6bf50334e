"""The report of one run, made from what lies on disk: no model, no dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.estimator import lines
from judgelab.report import format, items_page, label_page, style
from judgelab.report.console import alarms
from judgelab.report.format import columns, frame
from judgelab.report.items_page import with_links
from judgelab.report.jobs import command_line, drawings_of
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

LONG = 12  # rows of a table that is shown whole
FIRST = 5  # rows of each group of a longer one; the others are folded
UNLISTED = ("tracker", "overrides", "choices", "named_by")  # of the manifest: in the command


def write(run_dir: RunDir) -> Path:
    """Write figures/*.png and *.svg, tables/*.csv, items.html where there are texts, label.html
    where these are judged, and report.html; returns the latter (JudgelabError: result.json,
    manifest.json or config.yaml is missing or damaged)."""
    from markupsafe import Markup

    result, manifest = run_dir.read_json("result.json"), run_dir.read_json("manifest.json")
    summary = result["summary"]
    frames = {table["name"]: frame(table) for table in result["tables"]}
    for name, data in frames.items():
        write_csv(run_dir, f"tables/{name}.csv", data)
    names = [*result["figures"]]
    names += [name for one in result.get("sections", ()) for name in one["figures"]]
    own = drawings_of([run_dir.path]) if names else {}
    figures = style.write(run_dir, names, frames, own)
    heading, judge = title(result), str(summary.get("mechanism") or "score")
    items, labels = items_page.write(run_dir, heading, judge), label_page.write(run_dir)
    study = format.words(str(summary.get("study", "study")))
    if chart := result.get("chart"):
        run_dir.write_text(f"figures/{study.replace(' ', '_')}.svg", chart["svg"])
        chart = {**chart, "svg": Markup(chart["svg"])}  # made by us, from escaped texts
    warned = alarms(result)
    notes = [note for note in result["notes"] if not any(note in sentence for sentence in warned)]
    text = format.render(
        "run.html",
        result=result,
        heading=heading,
        items=bool(items),
        labels=labels,
        facts=[
            f"{study} of {summary.get('dataset')}" if result.get("title") else f"{study} study",
            f"judgelab {manifest.get('judgelab')}",
            manifest.get("started"),
        ],
        warning=warned,
        notes=[*notes, *lines(result)],
        chart=chart,
        figures=figures,
        tables={table["name"]: _table_parts(table, items) for table in result["tables"]},
        command=command(manifest),
        config=run_dir.read_text("config.yaml"),
        manifest=columns(_entries(manifest)),
        run=run_dir.path.name,
    )
    return run_dir.write_text("report.html", text)


def command(manifest: Mapping[str, Any]) -> str:
    """What repeats the run: the overrides that it was started with, but for volatile settings; ""
    of one whose judges came from Python."""
    overrides = manifest.get("overrides")
    if overrides is None:
        return ""
    passing = VOLATILE - {"trusted_packages"}
    axes = (re.split(r"[.=]", word.lstrip("+~"))[0] for word in overrides)
    return command_line(
        word for word, axis in zip(overrides, axes, strict=True) if axis not in passing
    )


def title(result: Mapping[str, Any]) -> str:
    """The answer in one sentence, where the study gives one; else what the run is about, as far as
    the summary says so: ``tvd_mi on xsum, attacked by case_flip``."""
    if result.get("title"):
        return str(result["title"])
    summary = result["summary"]
    sentence = str(summary.get("mechanism") or summary.get("study") or "judgelab run")
    if summary.get("dataset"):
        sentence += f" on {summary['dataset']}"
    if summary.get("attack") not in (None, "", "none"):
        sentence += f", attacked by {summary['attack']}"
        sentence += " (some agents alone)" if summary.get("attack_on") else ""
    return sentence


def _table_parts(table: Mapping[str, Any], items: frozenset[str]) -> dict[str, Any]:
    """What a template needs of a table: heading of a group -> its first rows, and all others."""
    rows, level = table["rows"], table.get("level", 0.95)
    long = len(rows) > LONG
    by: Any = table.get("by") if long else None
    order = [key for key in table.get("columns", ()) if key != by]
    parts = {}
    for name in dict.fromkeys(row[by] if by else "" for row in rows):
        own = [row for row in rows if not by or row[by] == name]
        own = [{key: value for key, value in row.items() if key != by} for row in own]
        halves = [own[:FIRST], own[FIRST:]] if long else [own]
        heading = f"{name} ({len(own)})" if by else ""
        parts[heading] = [with_links(columns(part, order, level), items) for part in halves if part]
    note = str(table["note"])
    for key in (key for key in table.get("columns", ()) if "_" in key):
        note = re.sub(rf"\b{re.escape(key)}\b", format.words(key), note)  # as the heading is
    return {"name": table["name"], "title": table["title"], "note": note, "parts": parts}


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    rows = []
    for key, value in ((k, v) for k, v in manifest.items() if k not in UNLISTED):
        for inner, part in value.items() if isinstance(value, dict) else [("", value)]:
            spelling = "not installed" if key == "versions" and part is None else format.text(part)
            rows.append({"entry": f"{format.words(key)} {inner}".strip(), "is": spelling})
    return rows


def write_csv(into: RunDir, name: str, data: DataFrame) -> None:
    """Write a table as numbers, and its texts as such: none of them is a formula."""
    names = data.select_dtypes(exclude="number").columns
    texts = {str(name): data[name].map(quoted) for name in names}
    safe = data.assign(**texts).rename(columns=quoted)
    into.write_text(name, safe.to_csv(index=False, lineterminator="\n"))


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet calculates begins so


def quoted(cell: object) -> object:
    """The cell; text that a spreadsheet would calculate begins with a ``'`` (OWASP's advice).
    Numbers stay numbers, also those that are written out: ``-0.5``."""
    return f"'{cell}" if isinstance(cell, str) and _formula(cell) else cell


def unquoted(cell: str) -> str:
    """The text that was written so."""
    return cell[1:] if cell[:1] == "'" and _formula(cell[1:]) else cell


def _formula(text: str) -> bool:
    if not text.startswith(FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return text.startswith(FORMULA[4:])
