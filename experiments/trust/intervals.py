"""Coverage of the intervals of the page, part by part.

Run: ``python -m experiments.trust.intervals --data DIR [--parts NAME ...] [--pools 1000]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from experiments.trust.coverage import LABELS, POOLS, Key, Trial, ranges, tried
from experiments.trust.page import Page
from experiments.trust.pools import Source
from experiments.trust.readme import markdown
from experiments.trust.results import RESULTS, write
from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.agreement import Agreement
from judgelab.study.audit.alone import Alone
from judgelab.study.audit.biases import Biases
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.exchange import ExchangeRate
from judgelab.study.audit.quantities import quantities
from judgelab.study.audit.replacement import Replacement
from tests.judgment_tables import ADVERSARIAL, NATURAL, frank, llmbar, summeval

STRATEGIES = ("/Vanilla", "/CoT", "/Metrics_Reference", "/Rating")
"""Of LLMBar's judges: 20 of 65, from each LM, single texts among them."""


@cache
def source(name: str, data: Path) -> Source:
    """Real judgments."""
    if name == "LLMBar":
        table = llmbar(data, NATURAL + ADVERSARIAL)
        return Source(table.of([one for one in table.names if one.endswith(STRATEGIES)]))
    made: Mapping[str, Callable[[], JudgmentTable]] = {
        "FRANK": lambda: frank(data, "cnndm"),
        "SummEval": lambda: summeval(data),
        "FRANK bbc, rare": lambda: rare(data),
    }
    return Source(made[name]())


def thinned(name: str, data: Path, step: int) -> Source:
    """Every so many of its judges: what is tried is the interval, not the judge."""
    whole = source(name, data).table
    return Source(whole.of(whole.names[::step]))


def rare(data: Path) -> JudgmentTable:
    """Whether a summary of bbc by PtGen is wholly factual: 1 in 21 is."""
    table = frank(data, "bbc")
    one = table.at(np.asarray(table.units.first == "PtGen", np.bool_))
    who = ("FactCC", "QAGS", "BertScore P Art")
    said = one.of(who).verdicts
    high = np.quantile(said[~np.isnan(said).any(axis=(1, 2))], 0.9, axis=1, keepdims=True)
    return replace(
        one.of(who),
        kind="category",
        levels=("no", "yes"),
        labels=(one.labels >= 0.99).astype(float),
        verdicts=np.where(np.isnan(said), np.nan, (said >= np.minimum(high, 0.99)).astype(float)),
    )


def biases(data: Path) -> list[Trial]:
    """Position and length of pairs; scale use and calibration of grades."""
    pairs = {"position": ("judge",), "length": ("judge",)}
    grades = {"scale_use": ("judge",), "calibration": ("judge", "level")}
    return [
        Trial("biases", "LLMBar", source("LLMBar", data), Page([Biases()], pairs), whole=True),
        Trial("biases", "SummEval", source("SummEval", data), Page([Biases()], grades), whole=True),
    ]


def agreement(data: Path) -> list[Trial]:
    """Agreement, gains, differences of judges, strata, ceiling, correlations."""
    named = {"agreement": ("judge",), "gains": ("judge", "control"), "ceiling": ("judge",)}
    named |= {"correlations": ("judge",), "strata": ("judge", "stratum")}
    named |= {"judge_pairs": ("judge", "compared_with"), "controls": ("control",)}
    made = []
    for name, step in (("LLMBar", 3), ("FRANK", 3), ("SummEval", 4)):
        drawn = thinned(name, data, step)
        made.append(Trial("agreement", name, drawn, Page([Agreement()], named), whole=True))
    return made


def replacement(data: Path) -> list[Trial]:
    """Whether a judge may take a person's place: SummEval's three experts."""
    named = {"replacement": ("judge",), "raters": ("rater",), "each_rater": ("judge", "rater")}
    page = Page([Replacement("expert")], named)
    return [Trial("replacement", "SummEval", source("SummEval", data), page, whole=True)]


def exchange(data: Path) -> list[Trial]:
    """The share of labels that a judge saves, in all texts and between two systems."""
    named = {"exchange": ("judge",), "two_systems": ("judge",)}
    pairs = {"FRANK": ("bart", "bert_sum"), "SummEval": ("M11", "M17"), "LLMBar": None}
    return [
        Trial("exchange", name, thinned(name, data, 3), Page([ExchangeRate(systems=two)], named))
        for name, two in pairs.items()
    ]


def numbers(table: JudgmentTable) -> dict[Key, float]:
    """What people say, whatever estimates it."""
    columns = ("judge_alone", "people_alone", "corrected", "from_error_rates", "the one to use")
    return {
        ("estimate", judge, number.name, column): float(number.truth.mean())
        for number in quantities(table)
        for judge in table.names
        for column in columns
    }


def estimates(data: Path) -> list[Trial]:
    """Rates and means, of all such items and of the pool; a rare rate."""
    named = {"estimate": ("judge", "number")}
    made = []
    for name in ("LLMBar", "FRANK", "SummEval", "FRANK bbc, rare"):
        drawn = thinned(name, data, 1 if "rare" in name else 3)
        of_all, of_pool = Page([CorrectedMean()], named), Page([CorrectedMean("pool")], named)
        made.append(Trial("estimate", name, drawn, of_all, numbers))
        pool = f"{name}, of the pool"
        made.append(Trial("estimate", pool, drawn, of_pool, numbers, numbers))
    return made


def alone(data: Path) -> list[Trial]:
    """What judges say of each other, where all pairs have a label."""
    named = {"peers": ("judge",), "blind_spots": ("units",)}
    named |= {"disagreement_map": ("units", "from", "to")}
    page = Page([Alone({})], named)
    return [Trial("alone", "LLMBar", thinned("LLMBar", data, 3), page, whole=True)]


PARTS: Mapping[str, Callable[[Path], list[Trial]]] = {
    "agreement": agreement,
    "replacement": replacement,
    "exchange": exchange,
    "estimate": estimates,
    "biases": biases,
    "alone": alone,
}
"""Part -> its trials; results/intervals_PART.json."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials of some parts, and write what each found."""
    parser = argparse.ArgumentParser(description="Coverage of the intervals of the page.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--pools", type=int, default=POOLS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    for part in given.parts:
        rows = []
        for trial in PARTS[part](given.data):
            for labels in LABELS:
                start = time.perf_counter()
                rows += list(tried(trial, labels, given.pools))
                spent = time.perf_counter() - start
                print(f"{part} {trial.data} {labels}: {spent:.0f} s", flush=True)
        print(markdown(ranges(rows)), flush=True)
        write(f"intervals_{part}", rows, {"pools": given.pools}, given.out)


if __name__ == "__main__":
    main()
