"""The report of one run, made from what lies on disk: no model, no dataset."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import JudgelabError
from judgelab.core.estimator import lines
from judgelab.core.result import estimated, read_estimate
from judgelab.core.terminal import quoted
from judgelab.report import figures, format
from judgelab.report.comparison import drawings_of
from judgelab.report.console import alarms
from judgelab.report.jobs import command_line
from judgelab.report.tables import Column, columns, frame
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from jinja2 import Environment
    from pandas import DataFrame

MOST = 8  # cards
LONG = 12  # rows of a table that is shown whole where there are sections
FIRST = 5  # rows of each group of a longer one; the others are folded
UNLISTED = ("tracker", "overrides", "choices", "named_by")  # of the manifest: in the command
IN_PYTHON = (
    "from omegaconf import OmegaConf; from judgelab.engine.run import execute; "
    'execute(OmegaConf.load("RUN_DIR/config.yaml"))'
)


def write(run_dir: RunDir) -> Path:
    """Write figures/*.png and *.svg, tables/*.csv, items.html where there are texts, and
    report.html; returns the latter.

    Args:
        run_dir: holds result.json, manifest.json and config.yaml.

    Raises:
        JudgelabError: one of them is missing or damaged.
    """
    from judgelab.report import items_page

    result, manifest = run_dir.read_json("result.json"), run_dir.read_json("manifest.json")
    config = _config(run_dir)
    summary, warned = result["summary"], alarms(result)
    notes = [said for said in result["notes"] if not any(said in alarm for alarm in warned)]
    tables = {table["name"]: frame(table) for table in result["tables"]}
    for name, data in tables.items():
        write_csv(run_dir, f"tables/{name}.csv", data)
    study = format.words(str(summary.get("study", "study")))
    sections = result.get("sections", [])
    names = [*result["figures"], *(name for one in sections for name in one["figures"])]
    own = drawings_of([run_dir.path]) if names else {}
    drawn = {one["name"]: one for one in figures.write(run_dir, names, tables, own)}
    said, judge = heading(result), str(summary.get("mechanism") or "score")
    held = items_page.write(run_dir, said, judge, render)
    shown = {table["name"]: _shown(table, held) for table in result["tables"]}
    if chart := result.get("chart"):
        run_dir.write_text(f"figures/{study.replace(' ', '_')}.svg", chart["svg"])
    placed = {name for one in sections for name in one["tables"]}
    text = render(
        "asked.html" if sections else "run.html",
        heading=said,
        items=bool(held),
        facts=[
            f"{study} of {summary.get('dataset')}" if result.get("title") else f"{study} study",
            f"judgelab {manifest.get('judgelab')}",
            manifest.get("started"),
        ],
        warning=warned,
        notes=[*notes, *lines(result), *_slower(manifest)],
        cards=cards(result),
        conditions=result.get("cards", []),
        chart=_chart(result),
        unscored=list(unscored(result)),
        answer=result.get("answer", []),
        figures=[drawn[name] for name in result["figures"]],
        tables=[table for name, table in shown.items() if name not in placed],
        sections=[_section(one, shown, drawn) for one in sections],
        command=command(manifest),
        config=config,
        manifest=columns(_entries(manifest)),
        run=run_dir.path.name,
    )
    return run_dir.write_text("report.html", text)


def command(manifest: Mapping[str, Any]) -> str:
    """What repeats the run: the overrides that it was started with, but for volatile settings.

    A run that was started from Python, or with settings of ``conf/local``, is repeated from its
    config.
    """
    overrides = manifest.get("overrides")
    if overrides is None:
        return shlex.join(["python", "-c", IN_PYTHON])
    return command_line(override for override in overrides if not _volatile(override))


def _volatile(override: str) -> bool:
    """Whether it changes no number (a preset of conf/debug may), and can be left out."""
    key = override.lstrip("+~").partition("=")[0]
    return key not in ("debug", "trusted_packages") and key.partition(".")[0] in VOLATILE


def heading(result: Mapping[str, Any]) -> str:
    """The answer in one sentence, where the study gives one; else what the run is about."""
    if result.get("title"):
        return str(result["title"])
    return about(result)


def about(result: Mapping[str, Any]) -> str:
    """``tvd_mi on xsum, attacked by case_flip``, as far as the summary says so."""
    summary = result["summary"]
    said = str(summary.get("mechanism") or summary.get("study") or "judgelab run")
    if summary.get("dataset"):
        said += f" on {summary['dataset']}"
    if summary.get("attack") not in (None, "", "none"):
        said += f", attacked by {summary['attack']}"
        said += " (some agents alone)" if summary.get("attack_on") else ""
    return said


def headline(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Statistic -> its summary entries (clean, attacked, change), the primary's first.

    An entry counts that is a number and has an interval, and the primary one in any case.
    """
    summary, primary = result["summary"], result["primary"]
    keys = estimated(summary)
    if primary in summary and primary not in keys:
        keys.append(primary)
    people = [one["key"] for one in result.get("headlines", ()) if one.get("people")]
    if summary.get(primary) is None:
        primary = next((key for key in people if key in keys), primary)
    first, _, best = primary.rpartition("/")
    keys.sort(key=lambda key: (not key.startswith(f"{first}/"), key.startswith("change/"), key))
    groups: dict[str, list[str]] = {}
    for key in sorted(keys, key=lambda key: key.rpartition("/")[2] != best):
        groups.setdefault(key.rpartition("/")[2], []).append(key)
    return dict(list(groups.items())[:MOST])


def cards(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One card for each statistic that has an interval: its value on every panel."""
    units = _units(result)
    return [
        {
            "name": format.words(statistic),
            "primary": result["primary"] in keys,
            "entries": [
                _entry(key, read_estimate(result["summary"], key), units.get(key, "items"))
                for key in keys
            ],
        }
        for statistic, keys in headline(result).items()
    ]


def unscored(result: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for every count of unscored things that is not 0."""
    summary = result["summary"]
    if lost := summary.get("unscored_calls"):
        of = format.number(summary["lm_calls"])
        yield f"{format.number(lost)} of {of} calls have no result: see the table of reasons."
    if lost := summary.get("unscored_verdicts"):
        of = format.number(summary["judged_verdicts"])
        yield f"{format.number(lost)} of {of} verdicts are missing; they earn no credit."
    for key, value in summary.items():
        if key.endswith("unscored_texts") and value:
            panel = key.rpartition("/")[0]
            yield f"{format.number(value)} texts of the {panel} panel have no score."
    groups: dict[str, list[str]] = {}
    units = _units(result)
    for key in (key for keys in headline(result).values() for key in keys):
        found = read_estimate(summary, key)
        if found["unscored"]:
            counts, unit = format.number(found["unscored"]), units.get(key, "items")
            if unit == "items":
                counts += f" of {format.number(found['unscored'] + (found['n'] or 0))}"
            counts += f" {unit}"
            panel, _, statistic = key.rpartition("/")
            named = [format.words(part) for part in (statistic, panel) if part]
            groups.setdefault(counts, []).append(", ".join(named))
    for counts, names in groups.items():
        yield f"{counts} are unscored and left out of {' · '.join(names)}."


def _units(result: Mapping[str, Any]) -> dict[str, str]:
    """Key -> what its count of unscored things is of, where not of items, as n is in any case."""
    return {one["key"]: one.get("unit", "items") for one in result.get("headlines", ())}


def _config(run_dir: RunDir) -> str:
    path = run_dir.path / "config.yaml"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as cause:
        raise JudgelabError(
            f"{path} cannot be read ({cause}): run again with force=true."
        ) from cause


def _entry(key: str, found: Mapping[str, Any], unit: str) -> dict[str, str]:
    """The number; panel and interval; n, unscored and p in words."""
    shown = format.estimate(found["value"], found["low"], found["high"])
    number, _, interval = shown.partition(" ")
    facts = [f"n = {format.number(found['n'])}"] if found["n"] is not None else []
    if found["unscored"]:
        counted = "" if unit == "items" else f"{unit} "
        facts.append(f"{format.number(found['unscored'])} {counted}unscored")
    if found["p"] is not None:
        p = format.p_value(found["p"])
        facts.append(f"p {p.replace('<', '< ')}" if p.startswith("<") else f"p = {p}")
    line = f"{format.words(key.rpartition('/')[0])} {interval}".strip()
    return {"number": number, "line": line, "facts": ", ".join(facts)}


def _slower(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Which LM was scored by another way than the fastest, and why: it changes no number."""
    for role, account in {**manifest, "evaluation_lm": manifest}.items():
        facts = account.get("facts") if isinstance(account, Mapping) else None
        workers = (facts or {}).get("workers") or {}
        for found in [facts or {}, *workers.values()][: 2 if workers else 1]:
            if found.get("backend_reason"):
                yield f"{role} was scored by backend={found['backend']}: {found['backend_reason']}."


def _shown(table: Mapping[str, Any], items: frozenset[str]) -> dict[str, Any]:
    """What a template needs of a table; long ones that are grouped in their groups.

    Args:
        items: those that have a place on the page of items.
    """
    from judgelab.report.items_page import linked

    rows, order, level = table["rows"], table.get("columns", ()), table.get("level", 0.95)
    made = {"name": table["name"], "title": table["title"], "note": _legend(table)}
    by: Any = table.get("by")
    groups: dict[str, list[list[Column]]] = {}
    if len(rows) > LONG:
        order = [key for key in order if key != by]
        for value in dict.fromkeys(row[by] for row in rows) if by else [""]:
            whole = [row for row in rows if not by or row[by] == value]
            part = [{k: v for k, v in row.items() if k != by} for row in whole]
            cut = [each for each in (part[:FIRST], part[FIRST:]) if each]
            heading = f"{value} ({len(part)})" if by else ""
            groups[heading] = [linked(columns(each, order, level), items) for each in cut]
    return made | {"columns": linked(columns(rows, order, level), items), "groups": groups}


def _legend(table: Mapping[str, Any]) -> str:
    """The note, with columns called as their headings are."""
    said = str(table["note"])
    for key in table.get("columns", ()):
        if "_" in key:
            said = re.sub(rf"\b{re.escape(key)}\b", format.words(key), said)
    return said


def _chart(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The study's own drawing: its SVG was made by us from escaped texts."""
    from markupsafe import Markup

    drawn = result.get("chart")
    return {**drawn, "svg": Markup(drawn["svg"])} if drawn else None


def _section(
    section: Mapping[str, Any], shown: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """A section with its tables and figures in place of their names."""
    return {
        **section,
        "tables": [shown[name] for name in section["tables"]],
        "figures": [drawn[name] for name in section["figures"]],
    }


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every entry of the manifest as a row, one level of nesting flattened."""
    rows = []
    for key, value in manifest.items():
        if key in UNLISTED:
            continue
        entries = value.items() if isinstance(value, dict) else [("", value)]
        for inner, part in entries:
            shown = "not installed" if key == "versions" and part is None else format.text(part)
            rows.append({"entry": f"{format.words(key)} {inner}".strip(), "is": shown})
    return rows


def write_csv(into: RunDir, name: str, data: DataFrame) -> None:
    """Write a table as numbers, and its texts as such: none of them is a formula."""
    names = data.select_dtypes(exclude="number").columns
    texts = {str(name): data[name].map(quoted) for name in names}
    safe = data.assign(**texts).rename(columns=quoted)
    into.write_text(name, safe.to_csv(index=False, lineterminator="\n"))


def render(template: str, **values: Any) -> str:
    """A page of templates/; strings are texts, whatever they hold."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("judgelab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        keep_trailing_newline=True,
    )


def _printable(value: Any) -> Any:
    """A user's text without control characters; markup as it is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(c if c.isprintable() or c == "\n" else " " for c in value)
