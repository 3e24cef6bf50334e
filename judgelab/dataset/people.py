"""People's labels in a file of their own, joined to the texts or pairs of a table by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgelab.core.errors import ChoiceError, DataError, listed, some
from judgelab.dataset.columns import Layout, Wide, layout, people_word, tokens, usual_role
from judgelab.dataset.files import Records
from judgelab.dataset.logs import Log, read_files
from judgelab.dataset.rows import PAIR, TEXT, JudgedRow, table_rows


def with_labels(
    rows: Sequence[JudgedRow],
    where: str,
    file: str,
    columns: Mapping[str, str],
    human: str | bool | None,
    raters: Wide,
) -> tuple[list[JudgedRow], str]:
    """The rows of ``where``, labelled by a file alone, a table or a log; and what it added.

    Args:
        columns: of the table of the rows, as ``Layout.columns``.
        human, raters: the columns of labels in the file, as settings name them.

    Raises:
        ChoiceError: several columns of the file may hold labels.
        DataError: it is not clear which text a label is about, or all are about other items.
    """
    source, name, layout_line = read_files(file), Path(file).name, ""
    if isinstance(source, Log):
        label_rows = source.rows(repr(name))
    else:
        own = _labels_layout(source, columns, human, raters, repr(name))
        label_rows, layout_line = table_rows(source, own, repr(name)), f" ({own.line})"
    label_rows = [row for row in label_rows if row.labels]
    labels = list(_labels(rows, label_rows, repr(name)))
    if not labels:
        raise DataError(
            f"{name!r} (dataset.people) labels no item of {where}: ids there are "
            f"{some([row.id for row in rows])}, and here {some([row.id for row in label_rows])}."
        )
    note = f"labels: {len(labels)} rows of {name}{layout_line}"
    if others := len(label_rows) - len(labels):
        note += f"; {others} rows of items that are not judged are left out"
    return [*(replace(row, labels=()) for row in rows), *labels], note


def _labels_layout(
    records: Records, main: Mapping[str, str], human: str | bool | None, raters: Wide, where: str
) -> Layout:
    """Which column of the file says what; ``main`` are those of the table of the rows."""
    columns: dict[str, str | bool | None] = {"verdict": False, "score": False, "human": human}
    names = ("id", "agent", "other", "criterion")
    columns |= {name: main[name] for name in names if main.get(name) in records.columns}
    ids = [x for x in records.columns if "id" in (usual_role(x), *tokens(x))]
    if "id" not in columns and len(ids) != 1:
        raise DataError(
            f"{where} (dataset.people) does not say which item a label is about: give it a column "
            f"{main.get('id', 'id')!r}. Columns are: {listed(records.columns)[:300]}."
        )
    columns.setdefault("id", *ids[:1])
    own = layout(records, columns, raters, None, where)
    if own.people:
        return own
    if len(own.labels) == 1:
        return layout(records, columns | {"human": own.labels[0]}, raters, None, where)
    choices = {f"labels: {name}": [people_word([name])] for name in own.labels}
    there = f"{listed(own.labels)} may each hold labels" if choices else "none holds labels"
    raise ChoiceError(f"{where} (dataset.people): call a column human; here {there}.", choices)


def _labels(
    rows: Sequence[JudgedRow], label_rows: Iterable[JudgedRow], where: str
) -> Iterator[JudgedRow]:
    """Rows with labels alone, of items that are judged; one that names no agent is of the only
    text of its item."""
    units: dict[str, dict[tuple[str, str], None]] = {}
    for row in rows:
        units.setdefault(row.id, {})[row.agent, row.other] = None
    texts = {(row.id, row.agent): row.text for row in rows if row.text}
    criteria = list(dict.fromkeys(row.criterion for row in rows if row.verdicts))
    lines: dict[tuple[object, ...], int | str] = {}
    for row in (row for row in label_rows if row.id in units):
        own, unit = units[row.id], (row.agent, row.other)
        unnamed = row.agent in (TEXT, PAIR[0])
        [unit] = own if unnamed and len(own) == 1 else [unit]
        criterion = row.criterion or (criteria[0] if len(criteria) == 1 else "")
        why = ""
        if unit not in own and unit[::-1] not in own:
            why = f"item {row.id!r} has texts of {some([name for name, _ in own])}: "
            why += "say whose in a column agent" if unnamed else f"none is of {row.agent}"
        elif row.text and row.text.split() != texts.get((row.id, unit[0]), row.text).split():
            why = f"the text of item {row.id!r} is another one there: ids mean something else"
        elif criteria and criterion not in criteria:
            why = f"judges answer {some(criteria)}: say which one a label does in column criterion"
        for one in row.labels:
            first = lines.setdefault((row.id, frozenset(unit), criterion, one.who), row.line)
            if first != row.line:
                why = f"{one.who} labels item {row.id!r} once more than in line {first}: "
                why += "keep one of them, or name people in a column rater"
        if why:
            raise DataError(f"{where}, line {row.line}: {why}.")
        label: dict[str, Any] = {"turn": row.turn, "labels": row.labels, "criterion": criterion}
        yield JudgedRow(f"{row.line} of {where}", row.id, *unit, **label)
