"""The page to label on: texts or pairs in a random order, without who wrote and who judged them.

What must not be seen before a label (systems, verdicts, other people's labels) is in the page too,
in base64, so that its export is a whole table for ``dataset=table``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from judgelab.core.judgments import Kind
from judgelab.report import format
from judgelab.report.items_page import UNIT, ItemRows, item_rows, record
from judgelab.report.jobs import command_line
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "label.html"
MOST = 1_000  # texts or pairs
ROOM = 20_000_000  # characters of all texts
SCALES = ((0, 1), (1, 5), (1, 10), (0, 10), (0, 100))
"""Usual grades: the first scale that holds all grades of the data is offered."""
OF_UNIT = ("cluster", "stratum", "turn")
"""Columns of records/judgments.parquet that say something of a unit, where they are there."""


def write(run_dir: RunDir) -> bool:
    """Write label.html where the records hold judgments of texts, else remove it; whether it is
    there."""
    judgments = record(run_dir, "judgments")
    rows = None if judgments is None else item_rows(run_dir, "")
    texts = {} if rows is None else _texts(run_dir)
    if judgments is None or rows is None or not texts:
        (run_dir.path / FILE).unlink(missing_ok=True)
        return False
    config = yaml.safe_load((run_dir.path / "config.yaml").read_text(encoding="utf-8"))
    seed = int(config.get("seed", 0))
    drawn = _draw(rows, seed, texts)
    hidden = json.dumps(_hidden(rows, drawn, seed, judgments), ensure_ascii=False)
    names = json.dumps([rows.kind, *([rows.item[k], rows.first[k], rows.second[k]] for k in drawn)])
    digest = _lot(seed, names).hex()[:8]
    data = {
        "run": f"{run_dir.path.name} {digest}",
        "kind": rows.kind,
        "levels": _levels(rows, judgments),
        "scale": _scale(rows),
        "units": [_shown(rows, k, seed, texts) for k in drawn],
        "pool": len(rows),
        "seed": seed,
        "sampled": not rows.raters,  # what other people labelled may have been chosen
        "command": _command(rows, config),
        "hidden": base64.b64encode(hidden.encode(errors="surrogatepass")).decode(),
    }
    noun = "pair" if rows.kind == "preference" else "text"
    run_dir.write_text(FILE, format.render("label.html", data=data, noun=noun))
    return True


def _texts(run_dir: RunDir) -> dict[tuple[str, str], str]:
    """(item, agent) -> text; (item, "") -> source, and (item, "\\0") -> reference."""
    texts, about = record(run_dir, "clean_texts"), record(run_dir, "source_texts")
    by_place: dict[tuple[str, str], str] = {}
    if texts is not None:
        known = texts.dropna(subset="text")
        names = zip(known["item"].tolist(), known["agent"].tolist(), strict=True)
        by_place |= zip(names, known["text"].tolist(), strict=True)
    for column, whose in (("source", ""), ("reference", "\0")):
        if about is None:
            break
        known = about.dropna(subset=column)
        pairs = zip(known["item"].tolist(), known[column].tolist(), strict=True)
        by_place |= {(item, whose): text for item, text in pairs}
    return by_place


def _draw(rows: ItemRows, seed: int, texts: Mapping[tuple[str, str], str]) -> list[int]:
    """Rows with all their texts in a random order, those of an item together, as many as fit.

    The order depends on the seed and on names alone, so that two people get the same one.
    """

    def place(k: int) -> tuple[bytes, bytes]:
        names = str(rows.item[k]), str(rows.first[k]), str(rows.second[k])
        return _lot(seed, names[0]), _lot(seed, *names)

    drawn, left = list[int](), ROOM
    for k in sorted(range(len(rows)), key=place):
        own = [texts.get((rows.item[k], agent)) for agent in _agents(rows, k)]
        if None in own:
            continue
        left -= sum(len(text or "") for text in (*own, texts.get((rows.item[k], ""))))
        if drawn and (left < 0 or len(drawn) == MOST):
            break
        drawn.append(k)
    return drawn


def _lot(seed: int, *names: str) -> bytes:
    """A random number that depends on the seed and the names alone."""
    words = "\x1f".join((str(seed), *names))
    return hashlib.sha256(words.encode(errors="surrogatepass")).digest()


def _agents(rows: ItemRows, k: int) -> list[str]:
    return [name for name in (rows.first[k], rows.second[k]) if name]


def _swapped(rows: ItemRows, k: int, seed: int) -> bool:
    """Whether the text that is stored second is shown as A, so that no place has an advantage."""
    names = str(rows.item[k]), *_agents(rows, k)
    return len(names) > 2 and _lot(seed, "side", *names)[0] < 128


def _shown(
    rows: ItemRows, k: int, seed: int, texts: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    item, own = rows.item[k], [texts[rows.item[k], agent] for agent in _agents(rows, k)]
    return {
        "source": texts.get((item, "")) or None,
        "reference": texts.get((item, "\0")) or None,
        "texts": own[::-1] if _swapped(rows, k, seed) else own,
    }


def _levels(rows: ItemRows, judgments: DataFrame) -> list[str]:
    given = set(judgments["category"].dropna().unique()) if rows.levels else set()
    return [name for name in rows.levels if name in given]


def _scale(rows: ItemRows) -> list[int]:
    """Lowest and highest grade that is offered; the reader may change them."""
    values = np.concatenate([rows.values.ravel(), rows.labels.ravel()])
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (1.0, 5.0)
    usual = (scale for scale in SCALES if scale[0] <= low and high <= scale[1])
    return list(next(usual, (int(np.floor(low)), int(np.ceil(high)))))


def _hidden(rows: ItemRows, drawn: list[int], seed: int, judgments: DataFrame) -> list[Any]:
    """Of each unit: names, whether A is the second text, and what was said of it, as cells."""
    of_unit: dict[tuple[Any, ...], list[Any]] = {}
    kept = judgments["item"].isin({rows.item[k] for k in drawn})
    for row in judgments[kept].astype(object).to_dict("records"):
        of_unit.setdefault(tuple(row[name] for name in UNIT), []).append(row)
    units = []
    for k in drawn:
        names = rows.item[k], rows.first[k], rows.second[k]
        facts = {name: of_unit[names][0].get(name, "") for name in OF_UNIT}
        one: dict[str, Any] = {"names": names, "swapped": _swapped(rows, k, seed)}
        one |= {name: fact for name, fact in facts.items() if fact == fact and fact != ""}
        one |= {"labels": [], "verdicts": []}
        for row in of_unit[names]:
            cell = _cell(row, rows.kind)
            if row["role"] == "rater":
                one["labels"].append([row["by"], cell])
            else:
                one["verdicts"].append([row["by"], row["order"], row.get("run", 0), cell])
        units.append(one)
    return units


def _cell(row: Mapping[Hashable, Any], kind: Kind) -> str:
    value = float(row["value"])
    if np.isnan(value):
        return ""
    if kind == "category":
        return str(row["category"])
    if kind == "grade":
        return f"{value:.15g}"
    return {1.0: str(row["first"]), 0.0: str(row["second"])}.get(value, "tie")


def _command(rows: ItemRows, config: Mapping[str, Any]) -> str:
    """What audits the export, but for its name."""
    study, dataset = config["study"], config["dataset"] or {}
    name, rules = study["_target_"].split(".")[-2], study.get("rules") or {}
    more = [f"study.rules.{key}={rules[key]}" for key in ("minimum", "recall") if rules.get(key)]
    if rows.kind == "category" and dataset.get("positive") is not None:
        more.append(f"dataset.positive={dataset['positive']}")
    # 0 and 1 are two classes
    kind = "category" if rows.kind == "grade" and _scale(rows) == [0, 1] else rows.kind
    return command_line([f"study={name}", "dataset=table", f"dataset.kind={kind}", *more])
