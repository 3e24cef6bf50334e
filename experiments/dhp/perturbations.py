"""Texts under each rule perturbation of a suite, before and after, and what the checks say."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.command import aligned
from judgelab.attack.edits import edits, word_edits
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.panel import Agent, Item, rng_for
from judgelab.core.resources import samples
from judgelab.core.sentences import sentences
from judgelab.core.step import Place, RuleStep, TextWritingStep
from judgelab.stats.intervals.means import item_mean
from judgelab.study.discernment.perturbations import SuiteEntry, load_suite

Made = dict[str, list[tuple[str, str, str]]]
"""Perturbation -> (before, after, why the check failed or '') of each text."""

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
    if attack.requires or not isinstance(attack, RuleStep | TextWritingStep):
        return
    for k, text in enumerate(texts):
        place = Place(
            Item(str(k), ""), Agent("original"), rng_for(0, attack.name, str(k), "original")
        )
        after = attack.rule(text, place)
        yield text, after, one.attack.check(text, after)


def checked(file: Path, suite: Sequence[SuiteEntry]) -> Made:
    """Texts that other code perturbed (or an LM, or people), held to the checks of this suite.

    Args:
        file: JSONL with ``perturbation`` (a name of the suite), ``before`` and ``after``.

    Raises:
        DataError: no such file, or a line without one of the three.
    """
    if not file.is_file():
        raise DataError(f"--pairs: there is no file {str(file)!r}.")
    made: Made = {one.name: [] for one in suite}
    checks = {one.name: one.attack.check for one in suite}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            name, before, after = row["perturbation"], row["before"], row["after"]
            made[name].append((before, after, checks[name](before, after)))
        except (ValueError, KeyError, TypeError) as cause:
            raise DataError(
                f"--pairs: line {number} of {file.name} needs perturbation (one of "
                f"{', '.join(made)}), before and after."
            ) from cause
    return made


def figures(every: Made) -> str:
    """A table: texts that passed, edits per text, sentences changed, reasons of failure."""
    rows = []
    for name, made in every.items():
        if not made:
            continue
        good = [(before, after) for before, after, reason in made if not reason]
        touched = [
            sum(said not in after for said in sentences(before)) / len(sentences(before))
            for before, after, _ in made
        ]
        reasons = Counter(re.sub(r"\(.*\)|\d+ (?=\w+ )", "", why) for *_, why in made if why)
        passed = item_mean([not reason for *_, reason in made], (0, 1))
        rows.append(
            {
                "perturbation": name,
                "passed": f"{len(good)} of {len(made)} [{passed.low:.0%}, {passed.high:.0%}]",
                "characters edited": _mean([edits(*pair) for pair in good]),
                "places of words": _mean([word_edits(*pair[:2]) for pair in made]),
                "sentences changed": _mean([100 * share for share in touched], "%"),
                "failed": "; ".join(f"{why} ({k})" for why, k in reasons.most_common(2)) or "-",
            }
        )
    title = "Means over texts with 95 % intervals: characters of those that passed, else of all."
    return aligned(title, rows, [])


def _mean(values: Sequence[float], unit: str = "") -> str:
    """Mean and interval; one number where all texts have the same, a dash where there is none."""
    found = item_mean(values, (0, 100) if unit else None)
    if not values:
        return "-"
    if np.isnan(found.low) or min(values) == max(values):
        return f"{found.value:.1f}{unit}"
    return f"{found.value:.1f}{unit} [{max(found.low, 0):.1f}, {found.high:.1f}]"


def shown(every: Made) -> Iterator[str]:
    """Every text under every perturbation, with the check's result."""
    for name, made in every.items():
        yield f"### {name}\n"
        for before, after, reason in made:
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
    parser.add_argument("--suite", default="summarization", help="a name of conf/perturbation")
    parser.add_argument("--n", type=int, default=10, help="how many texts")
    parser.add_argument("--pairs", type=Path, help="JSONL of perturbation, before, after: checked")
    parser.add_argument("--figures", action="store_true", help="a table instead of the texts")
    options = parser.parse_args(argv)
    try:
        suite = load_suite(
            options.suite, "", "", by="lm" if options.pairs else "rules"
        ).perturbations
        if options.pairs is not None:
            every = checked(options.pairs, suite)
        else:
            texts = texts_of(options.data, options.column)[: options.n]
            every = {one.name: list(perturbed(one, texts)) for one in suite}
    except JudgelabError as cause:
        print(cause, file=sys.stderr)
        return 1
    print(figures(every) if options.figures else "\n".join(shown(every)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
