"""Results in the discrimination study's row format, for tests of the report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgelab.store.run_dir import RunDir
from judgelab.study.discrimination.figures import HEADLINES

HOSTILE = '<script>alert("x")</script> & <img src=x onerror=alert(1)> [red]$x_1$'
CATEGORIES = ("Faithful", "Style", "Strategic", "Low Effort")
GROUPS = ("good faith", "good faith", "problematic", "problematic")


def estimate(value: float | None, n: int = 12, unscored: int = 0) -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.05, value + 0.05)
    p = None if value is None else 0.0004
    return {"value": value, "low": low, "high": high, "n": n, "unscored": unscored, "p": p}


def agent_rows(count: int, panels: tuple[str, ...], name: str = "Agent") -> list[dict[str, Any]]:
    """Scores fall with the agent's number; every sixth is unscored."""
    return [
        {
            "panel": panel,
            "agent": f"{name} {k}",
            "category": CATEGORIES[k % 4],
            "group": "reference" if k == 4 else GROUPS[k % 4],
            **estimate(None if k % 6 == 5 else 1 - k / count - 0.2 * (panel != "clean")),
        }
        for panel in panels
        for k in range(count)
    ]


def result(
    agents: int = 5,
    panels: tuple[str, ...] = ("clean", "attacked"),
    name: str = "Agent",
    auc: float = 0.632,
) -> dict[str, Any]:
    """What Result.to_json gives after a round through JSON (keys sorted)."""
    values = {"effect_size": 0.9, "auc": auc, "pair_auc": 0.581}
    rows = [
        {"panel": panel, "statistic": key, "meaning": f"about {key}", **estimate(value, unscored=3)}
        for panel in panels
        for key, value in values.items()
    ]
    summary: dict[str, Any] = {
        "study": "discrimination",
        "mechanism": "mi",
        "dataset": "xsum",
        "attack": "none" if len(panels) == 1 else "case_flip",
        "items": 12,
    }
    for row in rows:
        key = f"{row['panel']}/{row['statistic']}"
        summary[key] = row["value"]
        summary |= {f"{key}_{part}": row[part] for part in ("low", "high", "n", "unscored", "p")}
    summary |= {f"{panel}/unscored_texts": 7 for panel in panels}
    tables: list[dict[str, Any]] = [
        {"name": "discrimination", "title": "Good faith or not", "note": "Items.", "rows": rows},
        {"name": "agents", "title": "Agents", "note": "", "rows": agent_rows(agents, panels, name)},
    ]
    for table in tables:
        table["columns"] = list(table["rows"][0])
    made = {
        "primary": "clean/auc",
        "summary": summary,
        "notes": ["Data: a sample; the agents are synthetic.", f"Evaluation LM: {name}."],
        "headlines": [asdict(one) for one in HEADLINES],
        "figures": ["discrimination", "agent_scores"],
        "tables": tables,
    }
    again: dict[str, Any] = json.loads(json.dumps(made, sort_keys=True))
    return again


def config_of(study: str) -> str:
    """As much of a config.yaml as a report reads."""
    return f"seed: 0\nstudy:\n  _target_: judgelab.study.{study}\n"


DISCRIMINATION = config_of("discrimination.Discrimination")


def write_run(folder: Path, found: dict[str, Any], config: str = DISCRIMINATION) -> RunDir:
    """A run directory as the study leaves it before the report."""
    run = RunDir(folder)
    run.write_json("result.json", found)
    run.write_json("manifest.json", {"judgelab": "0.1.0", "versions": {"torch": None}})
    run.write_text("config.yaml", config)
    return run


def write_job(sweep: Path, number: int, choices: dict[str, str], **word: str) -> None:
    """What a job of a sweep leaves behind."""
    overrides = [f"{axis}={option}" for axis, option in choices.items()]
    text = json.dumps({"overrides": overrides, "choices": choices, **word})
    RunDir(sweep / str(number)).write_text("job.json", text)
