"""The report of one run, made from what lies on disk."""

from __future__ import annotations

import html
import json
from pathlib import Path

from judgelab.store.run_dir import RunDir


def write(run_dir: RunDir) -> Path:
    """Write report.html from result.json.

    Raises:
        JudgelabError: result.json is missing or damaged.
    """
    result = run_dir.read_json("result.json")
    text = html.escape(json.dumps(result, indent=1))
    return run_dir.write_text("report.html", f"<!doctype html><pre>{text}</pre>")
