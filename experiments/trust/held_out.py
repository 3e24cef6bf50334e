"""All LLMBar judges: a verdict from labels on Natural pairs, and how they do on Adversarial ones.

What is labelled is easy, what comes later is not: nothing of the Adversarial labels is seen. The
panel reading (part ``alone``) sees all verdicts and no Adversarial label.

Run: ``python -m experiments.trust.held_out --data DIR``
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.trust.page import case
from experiments.trust.results import RESULTS, Row, write
from judgelab.core.judgments import JudgmentTable
from judgelab.stats.intervals.ends import share_ends
from judgelab.study.audit.agreement import Agreement
from judgelab.study.audit.alone import Alone
from judgelab.study.audit.biases import Biases
from judgelab.study.audit.conclusion import facts
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.evidence import Evidence, joined
from judgelab.study.audit.exchange import ExchangeRate
from judgelab.study.audit.gate import Gate
from judgelab.study.audit.part import AuditPart
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.verdict import decide
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar

PARTS: Sequence[AuditPart] = (Gate(), Agreement(), CorrectedMean(), ExchangeRate(), Biases())
MINIMUM = 0.8
"""Agreement that a user with one rater asks for; also the bar on Adversarial pairs."""


def evidence(
    table: JudgmentTable, rules: TrustRules, sampled: bool | None = True
) -> dict[str, Evidence]:
    """Of every judge, from the parts that ask nobody."""
    seen = case(table, rules=rules, sampled=sampled)
    found = [part.run(seen) for part in PARTS]
    judges = [one.name for one in table.judges if not one.control]
    return joined(found, judges, facts(seen))


def accuracies(table: JudgmentTable) -> dict[str, tuple[float, float, float]]:
    """Judge -> agreement with its interval; unparsed verdicts earn 0."""
    credit = case(table).credits
    low, high = share_ends(credit.item)
    means = credit.item.mean(axis=1)
    return {
        name: (float(means[k]), float(low[k]), float(high[k]))
        for k, name in enumerate(credit.judges)
    }


def unlabelled_where(table: JudgmentTable, strata: Sequence[str]) -> JudgmentTable:
    """The same without labels there."""
    hidden = np.isin(table.units.stratum.astype(str), strata)
    units = replace(table.units, chance=np.full(len(table.units), np.nan))
    return replace(table, units=units, labels=np.where(hidden[:, None], np.nan, table.labels))


def main(arguments: Sequence[str] | None = None) -> None:
    """One row for each judge, and the reading without labels."""
    parser = argparse.ArgumentParser(description="Verdicts on Natural, accuracy on Adversarial.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    seen, later = llmbar(given.data, NATURAL), llmbar(given.data, ADVERSARIAL)
    both = unlabelled_where(llmbar(given.data, NATURAL + ADVERSARIAL), ADVERSARIAL)
    rules = TrustRules(minimum=MINIMUM)
    found = evidence(seen, rules)
    verdicts, unstated = decide(found, rules), decide(found, TrustRules())
    mixed = decide(evidence(both, rules, sampled=True), rules)
    there = accuracies(later)
    rows: list[Row] = []
    for name, verdict in verdicts.items():
        value, low, high = there[name]
        row: Row = {"judge": name, "agreement": found[name].agreement.value}
        row |= {"agreement_low": found[name].agreement.low, "verdict": verdict.verdict}
        row |= {"because": verdict.reason, "without a minimum": unstated[name].verdict}
        row |= {"with the unlabelled": mixed[name].verdict, "its reason": mixed[name].reason}
        row |= {"adversarial": value, "adversarial_low": low, "adversarial_high": high}
        rows.append(row)
    write("held_out", rows, {"minimum": MINIMUM}, given.out)
    reading = Alone({}).run(case(both, draws=200))
    said = [
        dict(row) for table in reading.tables if table.name == "blind_spots" for row in table.rows
    ]
    write("reading", said, {"notes": list(reading.notes)}, given.out)


if __name__ == "__main__":
    main()
