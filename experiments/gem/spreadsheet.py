"""The first sheet of an .xlsx file: a zip of XML files, of which two hold the cells."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from judgelab.core.errors import DataError

Value = str | float | None
_NS = {"": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def read_rows(file: Path) -> list[dict[str, Value]]:
    """Rows below the head, as column -> text, number, or None where the cell is empty.

    Rows without any value are left out.

    Raises:
        DataError: the file is no such spreadsheet.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            shared = _shared(archive)
            sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
            table = [_cells(row, shared) for row in sheet.iterfind(".//row", _NS)]
    except (OSError, KeyError, IndexError, ValueError, zipfile.BadZipFile) as cause:
        raise DataError(f"{file} cannot be read ({cause}): fetch it again.") from cause
    except ElementTree.ParseError as cause:
        raise DataError(f"{file} is damaged ({cause}): fetch it again.") from cause
    head = {place: str(name) for place, name in (table[0] if table else {}).items()}
    rows = [{name: row.get(place) for place, name in head.items()} for row in table[1:]]
    return [row for row in rows if any(value is not None for value in row.values())]


def _shared(archive: zipfile.ZipFile) -> list[str]:
    """Texts that cells name by number."""
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    root = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
    return ["".join(part.text or "" for part in one.iterfind(".//t", _NS)) for one in root]


def _cells(row: ElementTree.Element, shared: list[str]) -> dict[str, Value]:
    """Letters of the column -> value; cells without one are absent."""
    found: dict[str, Value] = {}
    for cell in row.iterfind("c", _NS):
        place = re.sub(r"\d", "", cell.get("r", ""))
        kind, value = cell.get("t"), cell.findtext("v", None, _NS)
        if kind == "inlineStr":
            found[place] = "".join(part.text or "" for part in cell.iterfind(".//t", _NS))
        elif value not in (None, ""):
            number = kind in (None, "n")
            found[place] = float(value) if number else shared[int(value)] if kind == "s" else value
    return found
