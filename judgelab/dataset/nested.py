"""Values inside of nested columns, as datasets of the Hub have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from judgelab.dataset.files import Row, unpacked

PLACE = re.compile(r"-?\d+")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?")


def text_at(row: Row, field: str) -> str | None:
    """The text of a column, or at a path such as ``translation.de`` or ``reviews.0.text``.

    A path descends into nested columns, into lists by number, and into columns that hold JSON.
    Numbers may count from the end (``dialog.-1``); a slice of a list of texts (``dialog.:-1``)
    is put together line by line.
    A path that ends in ``.*`` takes a whole form (a review form, for instance): every text or
    number of it, as sections ``Heading:``, blank line, text. A null stays None.

    Raises:
        KeyError: there is no such column or path.
        TypeError: what is there is not text.
        UnicodeError: the text holds half of a surrogate pair, which no encoding can write.
    """
    value: object = row
    if field in row:
        value = row[field]
    else:
        for part in field.removesuffix(".*").split("."):
            value = child(unpacked(value), part)
        value = _sections(unpacked(value)) if field.endswith(".*") else value
    if value is not None and not isinstance(value, str):
        raise TypeError(f"is not text but {type(value).__name__}")
    if value is not None:
        value.encode()
    return value


def _sections(form: object) -> object:
    if not isinstance(form, Mapping):
        return form
    return "\n\n".join(
        f"{str(key).replace('_', ' ').title()}:\n\n{str(part).strip()}"
        for key, part in form.items()
        if isinstance(part, (str, int, float)) and str(part).strip()
    )


def child(value: object, part: str) -> object:
    """One step of a path: a key, a number from either end, or a slice; KeyError without it."""
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise KeyError(part)
    if PLACE.fullmatch(part) and -len(value) <= int(part) < len(value):
        return value[int(part)]
    if found := SLICE.fullmatch(part):
        start, end = (int(bound) if bound else None for bound in found.groups())
        chosen = value[start:end]
        return "\n".join(chosen) if all(isinstance(one, str) for one in chosen) else chosen
    raise KeyError(part)
