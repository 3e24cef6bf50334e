"""An audit of many judges at once, and its corrected means against a loop over ppi-python.

Two jobs on the same judgments, 100 judges x 1,200 pairs in both orders, 200 of them labelled:

* the whole audit, from the table in memory to the finished result: less than 30 seconds;
* the corrected mean (PPI++) of each judge with its interval, computed for all judges at once and
  by a loop over ``ppi_py.ppi_mean_ci``: three times as fast or more.

Run: ``python -m experiments.bench.audit [--out outputs/bench/audit.json]``
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from experiments.command import run_benchmark
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.stats.trust.prediction_powered import LabelledPool, estimate
from tests.judgment_tables import audited, made_pairs

SECONDS, RATIO = 30.0, 3.0


def timed(sides: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Wall times of each side; the sides take turns, so a busy machine slows all of them."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, call in sides.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return taken


@dataclass(frozen=True)
class Setting:
    """Size of the job."""

    judges: int = 100
    items: int = 1200
    labels: int = 200
    repeats: int = 3


def made(setting: Setting) -> JudgmentTable:
    """Judges that are right on half to nearly all items, some of which prefer the first text."""
    accuracies = tuple(np.linspace(0.5, 0.95, setting.judges).tolist())
    return made_pairs(setting.items, accuracies, first=0.1, labelled=setting.labels)


@dataclass(frozen=True)
class Means:
    """The means of all judges, by both sides; [judges] each."""

    truth: Floats
    values: Floats
    labelled: Any

    def pool(self) -> LabelledPool:
        """Every unit is its own cluster."""
        return LabelledPool(self.truth, self.values, np.arange(len(self.truth)))

    def ours(self) -> Floats:
        """[judges, 2]."""
        found = estimate(self.pool(), "power")
        return np.stack([found.low, found.high], axis=1)

    def _each(self, interval: Callable[..., Any]) -> Floats:
        known = self.labelled
        return np.array(
            [
                [
                    float(np.ravel(end)[0])
                    for end in interval(self.truth[known], f[known], f[~known], k)
                ]
                for k, f in enumerate(self.values)
            ]
        )

    def theirs(self) -> Floats:
        """[judges, 2]."""
        import ppi_py

        return self._each(lambda y, f, rest, _: ppi_py.ppi_mean_ci(y, f, rest, alpha=0.05))


def difference(means: Means) -> float:
    """Largest gap of ends, in widths of the interval: ours has t and n - 2, theirs z."""
    mine, other = means.ours(), means.theirs()
    return float((np.abs(mine - other) / (other[:, 1] - other[:, 0])[:, None]).max())


def measure(setting: Setting) -> dict[str, Any]:
    """Check that both sides agree, time them in turn, then the whole audit."""
    table = made(setting)
    means = Means(table.truth, table.values, table.labelled)
    gap = difference(means)
    if not gap < 2 / setting.labels:
        raise SystemExit(f"The sides disagree ({gap}): no timing is worth reporting.")
    sides: dict[str, Callable[[], object]] = {"judgelab": means.ours, "ppi_py": means.theirs}
    times = timed(sides, setting.repeats)
    median = {side: statistics.median(taken) for side, taken in times.items()}
    start = time.perf_counter()
    result = audited(table)
    seconds = time.perf_counter() - start
    return {
        "setting": vars(setting),
        "difference_in_widths": gap,
        "median_seconds": median,
        "repeats_seconds": times,
        "ratio": median["ppi_py"] / median["judgelab"],
        "audit_seconds": seconds,
        "audit_tables": len(result.tables),
        "targets": {"audit_seconds": SECONDS, "ratio": RATIO},
        "machine": {
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            "load": os.getloadavg()[0],
            **{name: version(name) for name in ("numpy", "scipy", "ppi-python")},
        },
    }


def show(report: dict[str, Any], setting: Setting) -> bool:
    """The figures as text; whether they meet the targets."""
    median = report["median_seconds"]
    print(f"{setting.judges} judges x {setting.items} pairs, {setting.labels} labelled")
    print(f"  the whole audit  {report['audit_seconds']:8.2f} s")
    print(
        f"  corrected means  {median['judgelab']:8.4f} s; loop over ppi_py "
        f"{median['ppi_py']:8.4f} s = {report['ratio']:.1f} x"
    )
    return bool(report["audit_seconds"] < SECONDS and report["ratio"] >= RATIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where a target is missed."""
    return run_benchmark(
        argv, "An audit of many judges.", "outputs/bench/audit.json", Setting, measure, show
    )


if __name__ == "__main__":
    sys.exit(main())
