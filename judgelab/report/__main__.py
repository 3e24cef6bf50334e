"""``python -m judgelab.report FOLDER``: render a run's or a sweep's report again from disk."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from judgelab.core.errors import JudgelabError
from judgelab.report import page, sweep
from judgelab.store.run_dir import RunDir


def main() -> None:
    """Render and print where the page lies; exit code 1 and a sentence on a fault."""
    parser = argparse.ArgumentParser(prog="python -m judgelab.report", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="a run directory, or a sweep's")
    for folder in parser.parse_args().folder:
        try:
            jobs = any(folder.glob("*/job.json"))
            print(sweep.write(folder) if jobs else page.write(RunDir(folder)))
        except JudgelabError as cause:
            sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
