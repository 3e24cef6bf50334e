"""Texts under each rule perturbation of a suite, before and after, and what the checks say."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.command import aligned
from judgelab.attack.edits import edits, word_edits
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.panel import Agent, Item, rng_for
from judgelab.core.resources import samples
from judgelab.core.sentences import sentences
from judgelab.core.step import Place, RuleStep, TextWritingStep
from judgelab.study.discernment.perturbations import SuiteEntry, load_suite

SAMPLE = samples() / "summeval.jsonl"


def texts_of(file: Path, column: str) -> list[str]:
    """The texts of a column of a parquet, CSV or JSONL file that are not blank.

    Of several in a cell the one with most sentences counts, as in the paper.

    Raises:
        DataError: there is no such file or column.
    """
    if not file.is_file():
        raise DataError(f"--data: there is no file {str(file)!r}.")
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        found = [row.get(column) for row in rows]
    else:
        import pandas as pd

        table = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)
        found = table[column].tolist() if column in table else []
    several = [one if isinstance(one, list) else [one] for one in found]
    known = [[text for text in one if isinstance(text, str) and text.strip()] for one in several]
    texts = [max(one, key=lambda text: len(sentences(text))) for one in known if one]
    if not texts:
        raise DataError(f"--column: {file.name} has no texts in a column {column!r}.")
    return texts


def perturbed(one: SuiteEntry, texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(before, after, why the check failed or '') of each text; seeded by its number."""
    attack = one.attack
    if not isinstance(attack, RuleStep | TextWritingStep):
        return
    for k, text in enumerate(texts):
        place = Place(
            Item(str(k), ""), Agent("original"), rng_for(0, attack.name, str(k), "original")
        )
        after = attack.rule(text, place)
        yield text, after, one.attack.check(text, after)


def figures(suite: Sequence[SuiteEntry], texts: Sequence[str]) -> str:
    """A table: texts that passed, edits per text, sentences changed, reasons of failure."""
    rows = []
    for one in suite:
        made = list(perturbed(one, texts))
        good = [(before, after) for before, after, reason in made if not reason]
        if not made:
            continue
        n = max(len(good), 1)
        touched = [
            sum(said not in after for said in sentences(before)) / len(sentences(before))
            for before, after in good
        ]
        reasons = Counter(reason for *_, reason in made if reason)
        rows.append(
            {
                "perturbation": one.name,
                "passed": f"{len(good)} of {len(made)}",
                "characters edited": f"{sum(edits(*pair) for pair in good) / n:.1f}",
                "places of words": f"{sum(word_edits(*pair) for pair in good) / n:.1f}",
                "sentences changed": f"{sum(touched) / n:.0%}",
                "failed": "; ".join(f"{why} ({k})" for why, k in reasons.most_common(2)) or "-",
            }
        )
    return aligned("Means over the texts that passed.", rows, [])


def shown(suite: Sequence[SuiteEntry], texts: Sequence[str]) -> Iterator[str]:
    """Every text under every perturbation, with the check's result."""
    for one in suite:
        yield f"### {one.name}\n"
        for before, after, reason in perturbed(one, texts):
            yield f"- before: {' '.join(before.split())}"
            yield f"  after: {' '.join(after.split())}"
            yield f"  check: {reason or 'passed'}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Print texts before and after, or with --figures the table of figures.

    Returns:
        The exit code: 1, with one sentence on standard error, where the data are not right.
    """
    parser = argparse.ArgumentParser(
        prog="python -m experiments.dhp.perturbations", description=__doc__
    )
    parser.add_argument("--data", type=Path, default=SAMPLE, help="parquet, CSV or JSONL file")
    parser.add_argument("--column", default="human_summaries", help="of the texts")
    parser.add_argument("--suite", default="summeval", help="a name of conf/perturbation")
    parser.add_argument("--n", type=int, default=10, help="how many texts")
    parser.add_argument("--figures", action="store_true", help="a table instead of the texts")
    options = parser.parse_args(argv)
    try:
        suite = load_suite(options.suite, "", "", by="rules").perturbations
        texts = texts_of(options.data, options.column)[: options.n]
    except JudgelabError as cause:
        print(cause, file=sys.stderr)
        return 1
    print(figures(suite, texts) if options.figures else "\n".join(shown(suite, texts)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
