"""The papers' printed numbers as their sweeps read them (``printed=FILE``), made from tables.yaml.

    python -m experiments.printed --write

A file of ``conf/papers/numbers`` has a row for each cell: the options of the run that measures it,
the key of that run's summary, and the number.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from experiments.catalogue import CONF, ROOT

PRINTED = CONF / "papers" / "numbers"
Row = dict[str, str | float]
Tables = Mapping[str, Any]

DOMAINS = {"opus": "opus_books", "peer_review": "iclr2023"}
"""Where the TVD-MI paper's release calls a domain otherwise than the option that reads it."""
DISCRIMINATION = {
    "MI": "mi",
    "GPPM": "gppm",
    "TVD-MI": "tvd_mi",
    "Judge+ctx": "judge",
    "Judge-ctx": "judge_no_context",
}
TRANSLATION = ("wmt14", "opus")
"""Domains whose baseline is BLEU; of the others it is ROUGE."""

VALIDATION = {
    "BLEU": "bleu",
    "ROUGE-L": "rouge_l",
    "BERTScore": "bertscore",
    "BARTScore-F1": "bartscore",
    "BARTScore-precision": "bartscore_precision",
    "BARTScore-recall": "bartscore_recall",
    "LMExaminer": "lm_examiner",
    "GEM-raw": "gem_raw",
    "GEM": "gem",
    "GEM-S": "gem_s",
    "GEMS": "gem_s",
}
ATTACKS = {
    "Sentence Deletion": "sentence_deletion",
    "Deletion & Completion": "deletion_completion",
    "Abstract-only Review": "abstract_only_by_claude",
    "Random Replacement": "random_replacement",
    "GPT-4o Rephrase": "rephrase",
    "Llama3.1 Rephrase": "rephrase_by_llama",
    "Meaningless Elongation": "meaningless_elongation",
}
BOARD = ("gem", "gem_s", "gem_s_assw")
"""The scores of a leaderboard's table, after the model's size."""


def tvd_mi(tables: Tables) -> Iterator[tuple[str, list[Row]]]:
    """File -> rows of the TVD-MI paper's Tables 2 to 5."""
    for number, statistic in (("2", "effect_size"), ("3", "pair_auc")):
        rows: list[Row] = []
        for domain, cells in tables[f"table{number}"].items():
            baseline = "bleu" if domain in TRANSLATION else "rouge"
            for name, (value, _) in cells.items():
                run = {"dataset": DOMAINS.get(domain, domain)}
                run |= {"mechanism": DISCRIMINATION.get(name, baseline)}
                rows.append({**run, "statistic": f"clean/{statistic}", "value": value})
        yield f"tvd_mi_table_{number}", rows
    changes = [
        {
            "attack": attack,
            "mechanism": DISCRIMINATION[name.removesuffix(" d").removesuffix(" delta")],
            "statistic": "change/effect_size" if name.endswith(" d") else "change/score",
            "value": value[0] if isinstance(value, list) else value,
        }
        for attack in tables["attacks"]
        for name, value in tables["table4"][attack].items()
    ]
    yield "tvd_mi_table_4", changes
    aucs: list[Row] = [
        {
            "attack": attack,
            "mechanism": DISCRIMINATION[name],
            "statistic": f"{'clean' if attack == 'none' else 'attacked'}/pair_auc",
            "value": value,
        }
        for attack, cells in tables["table5"].items()
        for name, value in cells.items()
    ]
    yield "tvd_mi_table_5", aucs


def gem(tables: Tables) -> Iterator[tuple[str, list[Row]]]:
    """File -> rows of the GEM paper's Tables 1 to 14."""
    grades: list[Row] = [
        {"mechanism": VALIDATION[name], "statistic": "clean/human_spearman", "value": value}
        for name, (value, _) in tables["table1"].items()
    ]
    yield "gem_table_1", grades
    for first, second in (("3", "4"), ("8", "9"), ("11", "12"), ("13", "14")):
        rows = [row for number in (first, second) for row in _changes(tables, number)]
        yield f"gem_tables_{first}_{second}", rows
    models = _candidates()
    for number in ("6", "7", "10"):
        board: list[Row] = [
            {"mechanism": mechanism, "statistic": f"score/{models[_bare(name)]}", "value": value}
            for name, (_, *scores) in tables[f"table{number}"].items()
            for mechanism, value in zip(BOARD, scores, strict=True)
        ]
        yield f"gem_table_{number}", board


def _changes(tables: Tables, number: str) -> Iterator[Row]:
    """Standardised differences; of Tables 13 and 14 those of the fine-tuned models, as the others
    are Tables 3 and 4.
    """
    tuned = number in ("13", "14")
    mechanisms = {name.lower(): option for name, option in VALIDATION.items()}
    for name, cells in tables[f"table{number}"].items():
        if tuned and not name.endswith("-finetune"):
            continue
        bare = name.removesuffix("-finetune").removesuffix(" (Llama Preprocessing)")
        for attack, (value, *_) in cells.items():
            run = {"mechanism": mechanisms[bare.lower()], "attack": ATTACKS[attack]}
            yield {**run, "statistic": "change/smd", "value": value}


def _candidates() -> dict[str, str]:
    """Model as the tables name it -> candidate of agents=gre_bench."""
    file = CONF / "papers" / "agents" / "gre_bench.yaml"
    models = yaml.safe_load(file.read_text(encoding="utf-8"))["models"]
    return {_bare(one["model"]): name for name, one in models.items()}


def _bare(model: str) -> str:
    """Without its version: ``openai/gpt-4o-2024-05-13``, ``openai/gpt-4o (v 20240513)``."""
    name = model.partition(" ")[0]
    for version in ("-2024-07-18", "-2024-05-13", "-0125", "-2407"):
        name = name.removesuffix(version)
    return name


def files() -> dict[str, str]:
    """Name -> text of every file that is made here."""
    made = {}
    for paper, rows_of in (("peer_prediction", tvd_mi), ("gem", gem)):
        source = ROOT / "experiments" / paper / "printed" / "tables.yaml"
        for name, rows in rows_of(yaml.safe_load(source.read_text(encoding="utf-8"))):
            stream = io.StringIO()
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            made[f"{name}.csv"] = stream.getvalue()
    return made


def main(argv: list[str] | None = None) -> int:
    """Write the files, or say which are not what is made here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args(argv).write
    stale = 0
    for name, text in files().items():
        path = PRINTED / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if write:
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} {'written' if write else 'is not what tables.yaml says'}")
    return 0 if write or not stale else 1


if __name__ == "__main__":
    sys.exit(main())
