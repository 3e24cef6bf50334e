"""Text in CSV files: a spreadsheet must not take a name or a reply for a formula."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def quoted(cell: object) -> object:
    """The cell; text that a spreadsheet would calculate begins with a ``'`` (OWASP's advice).

    Numbers stay numbers, also those that are written out: ``-0.5``.
    """
    return f"'{cell}" if isinstance(cell, str) and _formula(cell) else cell


def unquoted(cell: str) -> str:
    """The text that was written so."""
    return cell[1:] if cell[:1] == "'" and _formula(cell[1:]) else cell


def _formula(text: str) -> bool:
    if not text.startswith(FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return text.startswith(FORMULA[4:])
