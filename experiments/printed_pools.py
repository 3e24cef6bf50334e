"""conf/papers/numbers of the Auto-PRE and ranking-confidence papers, from experiments/*/printed.

    python -m experiments.printed_pools --write

A row for each number: the settings of the run that has it, its place in the run's summary or
tables, and what the paper prints (``judgelab.engine.printed``).
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments.command import printed_tables

FOLDER = Path(__file__).resolve().parents[1] / "conf" / "papers" / "numbers"
REFRESH = "python -m experiments.printed_pools --write"
DATASETS = {"XSum": "auto_pre_xsum", "NF_CATS": "auto_pre_nf_cats"}
"""Of the paper -> option; DailyDialog's answers were not released."""
FORMATS = {"pairwise": "pairwise", "5-level": "pointwise5", "100-level": "pointwise100"}
METHODS = {
    "vicuna-7b": "vicuna15_7b",
    "gpt-3.5-turbo": "gpt35_turbo",
    "gpt-4": "gpt4_turbo",
    "PRE (w/o Filter)": "all",
    "PRE (Auto-Exam)": "PRE",
    "PRE (Human Filter)": "human",
    "Auto-PRE": "C+P+S",
    "Auto-PRE (P)": "P",
    "Auto-PRE (S)": "S",
    "Auto-PRE (C+P+S)": "C+P+S",
}
"""Of Tables 3 to 6 -> option, or pool of study=qualification."""
SETS = {"CNNDM": "cnndm_test", "SAMSum": "samsum", "XSum": "xsum"}
Line = tuple[object, ...]


def tables_3_4() -> Iterator[Line]:
    """Of the Auto-PRE paper."""
    yield "dataset", "mechanism", "statistic", "value"
    for table, column in (("accuracy", "value"), ("spearman", "spearman")):
        for method, cells in printed_tables("auto_pre")[table].items():
            for name, dataset in DATASETS.items() if method in METHODS else ():
                for form, number in cells[name].items():
                    mechanism = FORMATS[form]
                    yield dataset, mechanism, f"pools/{METHODS[method]}/{column}", number
                    if method == "Auto-PRE" and column == "value":
                        yield dataset, mechanism, "pool/accuracy", number


def tables_5_6() -> Iterator[Line]:
    """Of the same paper."""
    yield "dataset", "statistic", "value"
    for method, cells in printed_tables("auto_pre")["ablation"].items():
        for name, dataset in DATASETS.items():
            yield dataset, f"pools/{METHODS[method]}/value", cells[name][0]
    for method, cells in printed_tables("auto_pre")["bias"].items():
        for name, dataset in DATASETS.items():
            place, one = f"bias/{METHODS[method]}", cells[name]
            yield dataset, f"{place}/value", share(one["rate"])
            yield dataset, f"{place}/accuracy", one["accuracy"]


def ranking_confidence() -> Iterator[Line]:
    """Table 1, and Tables 2 and 3; content units as shares."""
    yield "dataset.hub.config", "statistic", "value"
    tables = printed_tables("ranking_confidence")
    for name, number in tables["table1"].items():
        yield SETS[name], "here/r", number
    for name, systems in tables["rankings"].items():
        for system, (human, score, rank) in systems.items():
            own = system if name == "SAMSum" else tables["release"][system]
            for column, number in (("human_mean", share(human)), ("value", score), ("rank", rank)):
                yield SETS[name], f"systems/{own}/{column}", number


def share(percent: float) -> float:
    """Of per cent, without the digits that dividing adds."""
    return round(percent / 100, 6)


def files() -> Mapping[Path, str]:
    """File -> what it should say."""
    tables = {
        "auto_pre_tables_3_4": tables_3_4(),
        "auto_pre_tables_5_6": tables_5_6(),
        "ranking_confidence": ranking_confidence(),
    }
    return {FOLDER / f"{name}.csv": text_of(lines) for name, lines in tables.items()}


def text_of(lines: Iterator[Line]) -> str:
    """As CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or say which is stale."""
    parser = argparse.ArgumentParser(description="Printed numbers, for sweep=NAME.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    stale = {
        path: text
        for path, text in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if write:
            path.write_text(text, encoding="utf-8")
        else:
            print(f"{path.name} is stale: {REFRESH}", file=sys.stderr)
    return 0 if write else int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
