"""The report of one run, made from what lies on disk: no model, no dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judgelab.core.errors import JudgelabError
from judgelab.core.estimator import lines
from judgelab.report import document as html
from judgelab.report import format
from judgelab.report.command import LOADER, command
from judgelab.report.figures import caption, draw, title
from judgelab.report.figures.style import saved
from judgelab.report.headline import cards, heading, unscored
from judgelab.report.tables import columns, frame
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame


def write(run_dir: RunDir) -> Path:
    """Write figures/*.png and *.svg, tables/*.csv and report.html; returns the latter.

    Args:
        run_dir: holds result.json, manifest.json and config.yaml.

    Raises:
        JudgelabError: one of them is missing or damaged.
    """
    result, manifest = run_dir.read_json("result.json"), run_dir.read_json("manifest.json")
    config_text, config = _config(run_dir)
    tables = {table["name"]: frame(table) for table in result["tables"]}
    for name, data in tables.items():
        run_dir.write_text(f"tables/{name}.csv", data.to_csv(index=False, lineterminator="\n"))
    parts = [
        *_head(result, manifest),
        *_figures(run_dir, result["figures"], tables),
        *_tables(result["tables"]),
        *_reproduce(config, config_text, manifest, run_dir.path.name),
    ]
    return run_dir.write_text("report.html", html.document(heading(result), parts))


def _config(run_dir: RunDir) -> tuple[str, dict[str, Any]]:
    path = run_dir.path / "config.yaml"
    try:
        text = path.read_text(encoding="utf-8")
        config = yaml.load(text, Loader=LOADER)
        assert isinstance(config, dict)
    except (OSError, ValueError, yaml.YAMLError, AssertionError) as cause:
        raise JudgelabError(
            f"{path} cannot be read ({cause}): run again with force=true."
        ) from cause
    return text, config


def _head(result: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[str]:
    yield html.tag("h1", heading(result))
    study = format.words(str(result["summary"].get("study", "study")))
    said = [f"judgelab {manifest.get('judgelab')}", f"{study} study", str(manifest.get("started"))]
    yield html.tag("p", " · ".join(said), "sub")
    yield html.notes([*result["notes"], *lines(result), *_slower(manifest)])
    yield cards(result)
    missing = list(unscored(result))
    yield html.notes(
        missing or ["Everything that was there got a score."], "missing" if missing else ""
    )


def _slower(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Which LM was scored by another way than the fastest, and why: it changes no number."""
    for role, account in {**manifest, "evaluation_lm": manifest}.items():
        facts = account.get("facts") if isinstance(account, Mapping) else None
        workers = (facts or {}).get("workers") or {}
        for found in [facts or {}, *workers.values()][: 2 if workers else 1]:
            if found.get("backend_reason"):
                yield f"{role} was scored by backend={found['backend']}: {found['backend_reason']}."


def _figures(run_dir: RunDir, names: list[str], tables: dict[str, DataFrame]) -> Iterator[str]:
    for name in names:
        figure = draw(name, tables)
        run_dir.write_bytes(f"figures/{name}.png", saved(figure, "png"))
        svg = saved(figure, "svg")
        run_dir.write_bytes(f"figures/{name}.svg", svg)
        yield html.tag("h2", title(name))
        yield html.drawing(name, svg, title(name), caption(name, tables))


def _tables(tables: list[Mapping[str, Any]]) -> Iterator[str]:
    yield html.tag("h2", "Tables")
    for table in tables:
        if table["rows"]:
            yield html.tag("h3", table["title"])
            level = table.get("level", 0.95)
            yield html.table(columns(table["rows"], table.get("columns", ()), level))
            yield html.tag("p", f"{table['note']} tables/{table['name']}.csv".strip(), "note")


def _reproduce(
    config: Mapping[str, Any], text: str, manifest: Mapping[str, Any], name: str
) -> Iterator[str]:
    yield html.tag("h2", "How to reproduce")
    yield html.code(command(config), "command")
    yield html.tag(
        "p",
        f"Run {name}; report again without a model: python -m judgelab.report RUN_DIR. "
        "Settings that cannot change a number (tracker, paths) are left out.",
        "note",
    )
    yield html.details("The whole config", html.code(text))
    yield html.details("Versions and costs", html.table(columns(_facts(manifest))))


def _facts(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every entry of the manifest as a row, one level of nesting flattened."""
    rows = []
    for key, value in manifest.items():
        if key == "tracker":  # publishes the page, so it is not known when the page is first made
            continue
        entries = value.items() if isinstance(value, dict) else [("", value)]
        for inner, part in entries:
            shown = "not installed" if key == "versions" and part is None else format.text(part)
            rows.append({"entry": f"{format.words(key)} {inner}".strip(), "is": shown})
    return rows
