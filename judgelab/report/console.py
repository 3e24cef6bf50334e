"""What a run found, on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def show(result: Mapping[str, Any], folder: Path) -> None:
    """Print the notes, the primary figure and where the run lies."""
    for note in result["notes"]:
        print(note)
    print(f"{result['primary']} = {result['summary'].get(result['primary'])}")
    print(folder / "report.html")
