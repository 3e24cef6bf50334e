"""``python -m judgelab.tracker.dashboard PROJECT``: a W&B workspace, and a report for each sweep.

Without credentials it says what it would make.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from judgelab.core.errors import JudgelabError
from judgelab.core.terminal import say
from judgelab.tracker.dashboard.layout import described
from judgelab.tracker.wandb_open import credentials_mode

NOBODY = (
    "No credentials of W&B (wandb login, or WANDB_API_KEY), so nothing was sent. With them this "
    "command makes:"
)


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
    from judgelab.tracker.dashboard.saving import save

    try:
        say("\n".join(save(entity or None, project, chosen.sweep)))
    except JudgelabError as cause:
        sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
