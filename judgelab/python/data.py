"""Data that are in memory, as a file that a run can be known by."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.dataset.cells import cell_text
from judgelab.store.private import private_folder


def path_of(data: Any, root: Path) -> str:
    """The path of the data; a frame is written below the root, under a name of its content.

    Raises:
        DataError: it is neither, or holds what no table can.
    """
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if not callable(getattr(data, "to_parquet", None)):
        raise DataError(f"data must be a pandas DataFrame or a path, not {type(data).__name__}.")
    named = [name for name in data.index.names if name is not None]
    if named and not set(named) & set(data.columns):
        data = data.reset_index()
    data = data.copy(deep=False)
    for k, kind in enumerate(data.dtypes):
        if kind.kind == "O":
            data.isetitem(k, data.iloc[:, k].map(_cell))
    held = io.BytesIO()
    try:
        data.to_parquet(held, index=False)
    except Exception as cause:  # pyarrow's own errors
        first = str(cause).partition("\n")[0]
        raise DataError(f"The frame cannot be written as a table: {first}.") from cause
    digest = hashlib.sha256(held.getvalue()).hexdigest()
    file = root / "data" / digest[:12] / "table.parquet"  # a dataset is called as its file is
    if not file.exists():
        private_folder(file.parent)
        part = file.with_suffix(f".{os.getpid()}.{id(held)}.part")
        part.write_bytes(held.getvalue())
        part.replace(file)
    return str(file)


def _cell(value: Any) -> Any:
    """A cell of a column of many types as text, so that the column has one type."""
    plain = not isinstance(value, str) and not hasattr(value, "__len__")
    return (cell_text(value) or None) if plain else value
