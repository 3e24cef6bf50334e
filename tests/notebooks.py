"""The notebooks, executed as a reader would: ``python -m tests.notebooks`` renews their outputs.

``--into FOLDER`` writes the executed copies there instead, and leaves the committed ones alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests.fresh import ROOT, environment

FOLDER = ROOT / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(path: Path, home: Path) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel that starts in the notebook's folder.

    Args:
        path: the notebook; it is only read.
        home: a folder that the kernel takes for the user's; no credentials lie there.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    book = nbformat.read(path, as_version=4)
    env = environment(home) | {"PYTHONPATH": str(ROOT)}
    for name in ("JUDGELAB_ROOT", "COLUMNS"):  # the notebooks and their readers choose these
        del env[name]
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        book,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources=resources,
    )
    client.execute(env=env)
    return _tidy(book)


def _tidy(book: NotebookNode) -> NotebookNode:
    """Without what differs from one execution to the next and tells a reader nothing."""
    book.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(book.cells, start=1):
        cell.id, cell.metadata = f"cell-{number:02}", nbformat.from_dict({})
    nbformat.validate(book)
    return book


def main() -> None:
    """Execute all notebooks, or those named, and write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks", description=__doc__)
    parser.add_argument("notebook", type=Path, nargs="*", help="default: all of notebooks/")
    parser.add_argument("--into", type=Path, default=FOLDER, help="where the copies go")
    chosen = parser.parse_args()
    for path in chosen.notebook or sorted(FOLDER.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as home:
            os.environ["HOME"] = home  # the client's own files stay out of the user's folders
            book = execute(path, Path(home))
        nbformat.write(book, chosen.into / path.name)


if __name__ == "__main__":
    main()
