"""The directory of one run. Every file appears whole or not at all, and DONE comes last."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import JudgelabError
from judgelab.store.private import hold, private_file, private_folder

if TYPE_CHECKING:
    import pandas as pd


class RunDir:
    """``outputs/runs/<name>``: config.yaml, records, result.json, manifest.json, report, DONE."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_done(self) -> bool:
        """Whether a run has finished here."""
        return (self.path / "DONE").is_file()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory; JudgelabError where another process is running the same config."""
        private_folder(self.path)
        refusal = f"Another process is running this very config in {self.path}: wait for it."
        handle = hold(self.path, refusal)
        try:
            for part in self.path.rglob(".*.[0-9]*.part"):  # whose writer is gone
                part.unlink(missing_ok=True)
            yield
        finally:
            os.close(handle)

    def reopen(self) -> None:
        """Withdraw DONE, so that a repeated run that is interrupted does not look finished."""
        (self.path / "DONE").unlink(missing_ok=True)

    def finish(self) -> None:
        """Write DONE: the checksums of the result and of the records that it rests on."""
        files = [self.path / "result.json", *(self.path / "records").rglob("*")]
        names = sorted(one.relative_to(self.path).as_posix() for one in files if one.is_file())
        self.write_text("DONE", "".join(f"{self._sum(name)}  {name}\n" for name in names))

    def altered_files(self) -> list[str]:
        """Names of the files that are no longer what they were when the run finished."""
        lines = (self.path / "DONE").read_text(encoding="utf-8").splitlines()
        pairs = [line.split("  ", 1) for line in lines]
        return [name for digest, name in pairs if self._sum(name) != digest]

    def _sum(self, name: str) -> str:
        try:
            with (self.path / name).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return ""

    def write_text(self, name: str, text: str) -> Path:
        """Write a text file."""
        return self._whole(name, lambda path: path.write_text(text, encoding="utf-8"))

    def write_bytes(self, name: str, data: bytes) -> Path:
        """Write a binary file."""
        return self._whole(name, lambda path: path.write_bytes(data))

    def write_json(self, name: str, value: object) -> Path:
        """Write JSON with sorted keys: equal values give equal bytes."""
        text = json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
        return self.write_text(name, text + "\n")

    def write_table(self, name: str, table: pd.DataFrame) -> Path:
        """Write a parquet file."""
        return self._whole(name, lambda path: table.to_parquet(path, index=False))

    def read_json(self, name: str) -> Any:
        """Read a JSON file back (raises JudgelabError: it is missing or damaged)."""
        return self._read(name, json.loads)

    def read_text(self, name: str) -> str:
        """Read a text file back (raises JudgelabError: it is missing or damaged)."""
        return str(self._read(name, str))

    def _read(self, name: str, parse: Callable[[str], Any]) -> Any:
        try:
            return parse((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as cause:
            raise JudgelabError(
                f"{self.path / name} cannot be read ({cause}): run again with force=true."
            ) from cause

    def _whole(self, name: str, write: Callable[[Path], object]) -> Path:
        target = self.path / name
        private_folder(target.parent)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        private_file(part)
        try:
            write(part)
        except BaseException as cause:  # a full disk, for one: half a file helps nobody
            part.unlink(missing_ok=True)
            if isinstance(cause, OSError) and cause.filename is None:
                cause.filename = str(target)
            raise
        part.replace(target)
        return target
