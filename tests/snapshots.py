"""Answers in words, kept in a file: ``SNAPSHOT=write pytest FILE`` writes it anew, for a diff."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def same(file: Path, answers: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> None:
    """That each answer (name, paragraphs with their headings) is the one in the file."""
    told = ""
    for name, found in answers:
        words = "\n".join(f"{heading}: {said}" for heading, said in found) or "(nothing)"
        told += f"== {name}\n{words}\n\n"
    told = f"{told.rstrip()}\n"
    if os.environ.get("SNAPSHOT") == "write":
        file.write_text(told, encoding="utf-8")
    assert told == file.read_text(encoding="utf-8") and "nan" not in told
