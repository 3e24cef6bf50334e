"""Coverage of the intervals of the page, part by part.

Run: ``python -m experiments.trust.intervals --data DIR [--parts NAME ...] [--pools 1000]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from experiments.trust.coverage import LABELS, POOLS, Trial, ranges, tried
from experiments.trust.page import Page
from experiments.trust.pools import Source
from experiments.trust.readme import markdown
from experiments.trust.results import RESULTS, write
from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.biases import Biases
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
    }
    return Source(made[name]())


def biases(data: Path) -> list[Trial]:
    """Position and length of pairs; scale use and calibration of grades."""
    pairs = {"position": ("judge",), "length": ("judge",)}
    grades = {"scale_use": ("judge",), "calibration": ("judge", "level")}
    return [
        Trial("biases", "LLMBar", source("LLMBar", data), Page([Biases()], pairs), whole=True),
        Trial("biases", "SummEval", source("SummEval", data), Page([Biases()], grades), whole=True),
    ]


PARTS: Mapping[str, Callable[[Path], list[Trial]]] = {"biases": biases}
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
