"""The page to label on: texts or pairs in a random order, without who wrote and who judged them.

What must not be seen before a label (systems, verdicts, other people's labels) is in the page too,
in base64, so that its export is a whole table for ``dataset=table``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.core.judgments import JudgmentTable, Kind
from judgelab.core.resources import of_yaml
from judgelab.report import format
from judgelab.report.items_page import item_rows, record
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
Names = tuple[str, str, str]
"""Of a unit: the item, and whose texts; the last is "" where it is one text."""
Texts = Mapping[tuple[str, str], str]
"""(item, agent) -> text; (item, "") -> source, and (item, "\\0") -> reference."""


def write(run_dir: RunDir) -> bool:
    """Write label.html where the records hold judgments of texts, else remove it; whether it is
    there."""
    judgments = record(run_dir, "judgments")
    rows = None if judgments is None else item_rows(run_dir, "")
    if judgments is None or rows is None:
        (run_dir.path / FILE).unlink(missing_ok=True)
        return False
    config = of_yaml(run_dir.read_text("config.yaml"))
    seed, table, texts = int(config.get("seed", 0)), rows.table, _texts(run_dir)
    units = table.units
    sample = _draw(list(zip(units.item, units.first, units.second, strict=True)), seed, texts)
    answers = json.dumps(_answers(table.kind, sample, seed, judgments), ensure_ascii=False)
    digest = _lot(seed, json.dumps([table.kind, *sample])).hex()[:8]
    categories = set(judgments["category"].dropna().unique()) if table.levels else set()
    data = {
        "run": f"{run_dir.path.name} {digest}",
        "kind": table.kind,
        "levels": [name for name in table.levels if name in categories],
        "scale": _scale(table),
        "units": [_unit_texts(unit, seed, texts) for unit in sample],
        "pool": len(rows),
        "seed": seed,
        "sampled": not table.raters,  # what other people labelled may have been chosen
        "command": _command(table, config),
        "hidden": base64.b64encode(answers.encode(errors="surrogatepass")).decode(),
    }
    noun = "pair" if table.kind == "preference" else "text"
    run_dir.write_text(FILE, format.render("label.html", data=data, noun=noun))
    return True


def _texts(run_dir: RunDir) -> Texts:
    import pandas as pd

    texts, about = record(run_dir, "clean_texts"), record(run_dir, "source_texts")
    parts = [texts]
    if about is not None:
        agents = {"source": "", "reference": "\0"}
        parts += [about.assign(agent=name, text=about[of]) for of, name in agents.items()]
    rows = pd.concat(parts)[["item", "agent", "text"]].dropna(subset="text")
    return {(item, agent): text for item, agent, text in rows.itertuples(index=False)}


def _draw(units: Sequence[Names], seed: int, texts: Texts) -> list[Names]:
    """Units with all their texts in a random order, those of an item together, as many as fit.

    The order depends on the seed and on names alone, so that two people get the same one.
    """
    sample, room = list[Names](), ROOM
    for unit in sorted(units, key=lambda names: (_lot(seed, names[0]), _lot(seed, *names))):
        own = [texts.get((unit[0], agent)) for agent in _agents(unit)]
        if None in own:
            continue
        room -= sum(len(text or "") for text in (*own, texts.get((unit[0], ""))))
        if sample and (room < 0 or len(sample) == MOST):
            break
        sample.append(unit)
    return sample


def _lot(seed: int, *names: str) -> bytes:
    """A random number that depends on the seed and the names alone."""
    words = "\x1f".join((str(seed), *names))
    return hashlib.sha256(words.encode(errors="surrogatepass")).digest()


def _agents(unit: Names) -> list[str]:
    return [name for name in unit[1:] if name]


def _is_swapped(unit: Names, seed: int) -> bool:
    """Whether the text that is stored second is shown as A, so that no place has an advantage."""
    return bool(unit[2]) and _lot(seed, "side", *unit)[0] < 128


def _unit_texts(unit: Names, seed: int, texts: Texts) -> dict[str, Any]:
    item, own = unit[0], [texts[unit[0], agent] for agent in _agents(unit)]
    return {
        "source": texts.get((item, "")) or None,
        "reference": texts.get((item, "\0")) or None,
        "texts": own[::-1] if _is_swapped(unit, seed) else own,
    }


def _scale(table: JudgmentTable) -> list[int]:
    """Lowest and highest grade that is offered; the reader may change them."""
    values = np.concatenate([table.verdicts.ravel(), table.labels.ravel()])
    grades = values[~np.isnan(values)]
    low, high = (float(grades.min()), float(grades.max())) if grades.size else (1.0, 5.0)
    usual = (scale for scale in SCALES if scale[0] <= low and high <= scale[1])
    return list(next(usual, (int(np.floor(low)), int(np.ceil(high)))))


def _answers(kind: Kind, sample: Sequence[Names], seed: int, judgments: DataFrame) -> list[Any]:
    """Of each unit: names, whether A is the second text, and what was said of it, as cells."""
    of_unit: dict[Names, list[Any]] = {unit: [] for unit in sample}
    for row in judgments.astype(object).to_dict("records"):
        of_unit.get((row["item"], row["first"], row["second"]), []).append(row)
    units = []
    for names, rows in of_unit.items():
        facts = {name: rows[0].get(name, "") for name in OF_UNIT}
        one: dict[str, Any] = {"names": names, "swapped": _is_swapped(names, seed)}
        one |= {name: fact for name, fact in facts.items() if fact == fact and fact != ""}
        judges = [x for x in rows if x["role"] == "judge"]
        one["labels"] = [[x["by"], _cell(x, kind)] for x in rows if x["role"] == "rater"]
        one["verdicts"] = [[x["by"], x["order"], x.get("run", 0), _cell(x, kind)] for x in judges]
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


def _command(table: JudgmentTable, config: Mapping[str, Any]) -> str:
    """What audits the export, but for its name."""
    study, dataset = config["study"], config["dataset"] or {}
    name, rules = study["_target_"].split(".")[-2], study.get("rules") or {}
    more = [f"study.rules.{key}={rules[key]}" for key in ("minimum", "recall") if rules.get(key)]
    if table.kind == "category" and dataset.get("positive") is not None:
        more.append(f"dataset.positive={dataset['positive']}")
    # 0 and 1 are two classes
    kind = "category" if table.kind == "grade" and _scale(table) == [0, 1] else table.kind
    return command_line([f"study={name}", "dataset=table", f"dataset.kind={kind}", *more])
