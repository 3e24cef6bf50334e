"""Writes the tables of the README from the result files.

    python -m experiments.trust.readme --write

Each table stands between marks that name it; everything else in the page is left alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from experiments.trust.coverage import LABELS, ranges, spread
from experiments.trust.false_trust import RULES
from experiments.trust.results import RESULTS, Row, read
from judgelab.study.audit.coverage import NOMINAL

README = Path(__file__).parent / "README.md"
SHIPPED = Path(__file__).parents[2] / "judgelab" / "study" / "audit" / "coverage.yaml"
LEFT_OUT = ("judge_alone", "corrected")
"""What is shown to be wrong, and what is recommended in some pools alone."""
SHOWN_AS = {"the one to use": "corrected"}
LEARNED = ("system", "stratum")
"""Controls that learn from the labels what a name says."""
COMMAND = "python -m experiments.trust.readme --write"


def begin(name: str) -> str:
    """The mark above a table."""
    return f"<!-- begin {name}: made by `{COMMAND}` -->"


def end(name: str) -> str:
    """The mark below it."""
    return f"<!-- end {name} -->"


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; columns in the order of first appearance."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(shown(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def shown(value: Any) -> str:
    """A cell: shares with three digits, and without the leading 0."""
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.3f}"
        return text.replace("0.", ".", 1) if abs(value) < 1 else text
    return str(value).replace("|", "\\|")


def across(rows: Sequence[Row], by: Sequence[str], over: str, value: str) -> list[Row]:
    """One row for each combination of ``by``, a column for each value of ``over``."""
    made: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in by)
        line = made.setdefault(key, {name: row[name] for name in by})
        line[f"{over} {row[over]}"] = row[value]
    return list(made.values())


def false_trust(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """By law and rule, over the numbers of labels."""
    return markdown(across(rows, ("law", "rule"), "labels", "trusted"))


def gates(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """Adversarial pairs: power, and how often any judge passes that is no better."""
    kept = [row for row in rows if row["data"] == "Adversarial" and row["rule"] != RULES[3].name]
    made = []
    for line in across(kept, ("controls", "rule"), "labels", "passed of better"):
        mine = [r for r in kept if (r["controls"], r["rule"]) == (line["controls"], line["rule"])]
        first = mine[0]
        counts = f"{first['better']} better, {first['not better']} not"
        worst = max(row["any passed"] for row in mine)
        named = {key.replace("labels ", "better ones passed, "): v for key, v in line.items()}
        made.append({**named, "judges": counts, "any other passed, at most": worst})
    return markdown(made)


def verdicts(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """Shares of verdicts by what a judge is."""
    return markdown(rows)


def held_out(rows: Sequence[Row], setting: Mapping[str, Any]) -> str:
    """Verdicts from Natural labels against accuracy on Adversarial pairs, then every judge."""
    bar, kinds = setting["minimum"], dict.fromkeys(row["verdict"] for row in rows)
    made = []
    for kind in sorted(kinds):
        mine = [row["adversarial"] for row in rows if row["verdict"] == kind]
        counts = {"above .5 there": sum(value > 0.5 for value in mine)}
        counts |= {f"at {shown(bar)} or above": sum(value >= bar for value in mine)}
        mean = sum(mine) / len(mine)
        made.append({"verdict": kind, "judges": len(mine), **counts, "mean there": mean})
    each = [
        {
            "judge": row["judge"],
            "agreement on Natural": row["agreement"],
            "verdict": row["verdict"],
            "on Adversarial": f"{shown(row['adversarial'])} [{shown(row['adversarial_low'])}, "
            f"{shown(row['adversarial_high'])}]",
            "verdict where Adversarial pairs are judged, too": f"{row['with the unlabelled']}: "
            f"{row['its reason']}",
        }
        for row in sorted(rows, key=lambda row: -row["agreement"])
    ]
    head = "<details><summary>All judges</summary>"
    return "\n\n".join([markdown(made), head, markdown(each), "</details>"])


def reading(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """What the part ``alone`` said of each set."""
    names = {"units": "set", "n": "pairs", "labelled": "labels seen", "agreement": "agreement"}
    names |= {"changed": "answers that depend on who is asked"}
    return markdown([{names[key]: row.get(key) for key in names} for row in rows])


def saving(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """By data: how far off predictions are; then every judge."""
    made = []
    for data in dict.fromkeys(row["data"] for row in rows):
        mine = [row for row in rows if row["data"] == data and row["saved"] == row["saved"]]
        off = [row["predicted"] - row["saved"] for row in mine]
        line = {"data": data, "judges": len(mine)}
        line |= {
            "saved in fact": f"{shown(min(r['saved'] for r in mine))} to "
            f"{shown(max(r['saved'] for r in mine))}"
        }
        line |= {"predicted less saved, mean": sum(off) / len(off)}
        line |= {"largest": max(off, key=abs)}
        width = [row["predicted_high"] - row["predicted_low"] for row in mine]
        line |= {"spread of pilots, 95 %": sum(width) / len(width)}
        made.append(line | {"interval held": sum(r["interval_held"] for r in mine) / len(mine)})
    head = "<details><summary>All judges</summary>"
    return "\n\n".join([markdown(made), head, markdown(list(rows)), "</details>"])


def widths(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """Corrected intervals in widths of people's alone, over judges; of whole numbers alone."""
    sizes = {
        (row["data"], row["of"], row["labels"], row["column"]): row["width"]
        for row in rows
        if "width" in row and " of M" not in row["of"] and "grade of" not in row["of"]
    }
    made: dict[str, Row] = {}
    for (data, of, labels, column), width in sizes.items():
        if column == "corrected" and "rare" not in data:
            line = made.setdefault(data, {"data": data})
            ratio = width / sizes[data, of, labels, "people_alone"]
            line.setdefault(f"{labels} labels", []).append(ratio)
    return markdown(
        [
            {k: spread(v) if isinstance(v, list) else v for k, v in one.items()}
            for one in made.values()
        ]
    )


def estimates(rows: Sequence[Row], setting: Mapping[str, Any]) -> str:
    """Coverage, then widths."""
    said = "Widths of `corrected` in widths of `people_alone`, mean (narrowest to widest judge):"
    return "\n\n".join([coverage(rows, setting), said, widths(rows, setting)])


def coverage(rows: Sequence[Row], setting: Mapping[str, Any]) -> str:
    """Mean over judges, and from the judge with the lowest coverage to the highest."""
    return markdown(ranges(rows))


def promises(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """What part ``next_labels`` promises, and how often that is broken or held."""
    return markdown(rows)


def outside(folder: Path = RESULTS) -> str:
    """Columns whose intervals hold too seldom or too often somewhere, the worst first."""
    found: list[tuple[float, Row]] = []
    for file in sorted(folder.glob("intervals_*.json")):
        rows = [row for row in read(file.stem, folder)[0] if row["column"] not in LEFT_OUT]
        for line in ranges(rows):
            means = [value for n in LABELS if (value := _first_share(line.get(f"{n} labels")))]
            if means and not NOMINAL[0] <= min(means) <= max(means) <= NOMINAL[1]:
                found.append((min(means), line))
    return markdown([line for _, line in sorted(found, key=lambda one: one[0])])


def _first_share(said: str | None) -> float | None:
    """The mean that a cell of ``ranges`` begins with."""
    return None if said in (None, "no interval") else float(said.split(" ")[0])


TABLES: Mapping[str, Callable[[Sequence[Row], Mapping[str, Any]], str]] = {
    "false_trust": false_trust,
    "gates": gates,
    "verdicts": verdicts,
    "held_out": held_out,
    "reading": reading,
    "saving": saving,
    "intervals_agreement": coverage,
    "intervals_replacement": coverage,
    "intervals_estimate": estimates,
    "intervals_exchange": coverage,
    "intervals_biases": coverage,
    "intervals_alone": coverage,
    "promises": promises,
}
"""Result file -> what the README shows of it."""


def page(text: str, folder: Path = RESULTS) -> str:
    """The page with every table that has a result file made anew.

    Raises:
        ValueError: the page lacks a table's marks.
    """
    for name, make in TABLES.items():
        if (folder / f"{name}.json").is_file():
            text = _put(text, name, make(*read(name, folder)))
    return _put(text, "outside", outside(folder))


def _put(text: str, name: str, table: str) -> str:
    before, first, rest = text.partition(begin(name))
    _, last, after = rest.partition(end(name))
    if not (first and last):
        raise ValueError(f"README.md lacks the marks {begin(name)!r} and {end(name)!r}.")
    return f"{before}{first}\n\n{table}\n\n{last}{after}"


def shipped(folder: Path = RESULTS) -> str:
    """What the page of an audit says of its own intervals: judgelab/study/audit/coverage.yaml."""
    tables: dict[str, Any] = {}
    for file in sorted(folder.glob("intervals_*.json")):
        rows, _ = read(file.stem, folder)
        for row in rows:
            if row["column"] in LEFT_OUT or "of the pool" in row["data"] or "held" not in row:
                continue
            data, column = row["data"], SHOWN_AS.get(row["column"], row["column"])
            control = row["of"].split(" / ")[-1]
            if row["table"] in ("gains", "controls") and control in LEARNED:
                data = f"{data} (control: {control})"
            by = tables.setdefault(row["table"], {}).setdefault(column, {})
            by.setdefault(data, {}).setdefault(row["labels"], []).append(row["held"])
    means = {
        table: {
            column: {
                data: [_mean(held.get(n)) for n in LABELS] for data, held in sorted(by.items())
            }
            for column, by in sorted(columns.items())
        }
        for table, columns in sorted(tables.items())
    }
    head = f"# Share of intervals that held, mean over judges: made by `{COMMAND}`\n"
    body = {"labels": list(LABELS), "tables": means}
    return head + yaml.safe_dump(body, default_flow_style=None, sort_keys=False, width=100)


def _mean(held: Sequence[float] | None) -> float | None:
    return round(sum(held) / len(held), 3) if held else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or say that the page is stale."""
    parser = argparse.ArgumentParser(description="Tables of experiments/trust/README.md.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    old = README.read_text(encoding="utf-8")
    new = page(old)
    made = {README: (old, new), SHIPPED: (SHIPPED.read_text(encoding="utf-8"), shipped())}
    stale = [file for file, (before, after) in made.items() if before != after]
    for file in stale:
        if write:
            file.write_text(made[file][1], encoding="utf-8")
        else:
            print(f"{file.name} is stale: {COMMAND}", file=sys.stderr)
    return 0 if write else int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
