"""An audit of many judges at once, and its corrected means against loops over ppi-python.

Two jobs on the same made judgments, 100 judges x 1,200 pairs in both orders, 200 of them labelled:

* the whole audit, with every part that asks nobody and 2,000 resamples, from the table in memory
  to the finished result: less than 30 seconds;
* the corrected mean (PPI++) of each judge with its interval, computed for all judges at once and
  by a loop over ``ppi_py``: once as the page shows it (from influences, against
  ``ppi_mean_ci``), once with 2,000 resamples (against ``ppboot``), with the same lambda on both
  sides. 10 times as fast with resamples.

Run: ``python -m experiments.bench.audit [--out outputs/bench/audit.json]``
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hydra import compose, initialize_config_dir

from experiments.bench.statistics import timed
from experiments.command import run_benchmark
from judgelab.config import build, resolved
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.panel import Agent
from judgelab.core.result import Result
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.stats.trust.prediction_powered import LabelledPool, estimate
from judgelab.stats.trust.resampled_means import resampled_means
from tests.judgment_tables import audit_case, made_pairs

CONF = Path(__file__).resolve().parents[2] / "conf"
WRITERS = (Agent("a"), Agent("b"))
SECONDS, RATIO, SEED = 30.0, 10.0, 0


@dataclass(frozen=True)
class Setting:
    """Size of the job."""

    judges: int = 100
    items: int = 1200
    labels: int = 200
    draws: int = 2000
    repeats: int = 3


def made(setting: Setting) -> JudgmentTable:
    """Judges that are right on half to nearly all items, some of which prefer the first text."""
    accuracies = tuple(np.linspace(0.5, 0.95, setting.judges).tolist())
    return made_pairs(setting.items, accuracies, first=0.1, labelled=setting.labels)


def audited(table: JudgmentTable, draws: int) -> Result:
    """The result of ``study=audit``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=["study=audit", f"study.bootstrap={draws}"])
    study = build(resolved(config)["study"], "study")
    with TemporaryDirectory() as folder:
        context = audit_case(table, Path(folder), WRITERS).context
        found: Result = study.run(replace(context, mechanism=RecordedScores()))
    return found


@dataclass(frozen=True)
class Means:
    """The means of all judges, by both sides; [judges] each."""

    truth: Floats
    values: Floats
    labelled: Any
    draws: int

    @staticmethod
    def of(table: JudgmentTable, draws: int) -> Means:
        """From the table."""
        return Means(table.truth, table.values, table.labelled, draws)

    def pool(self) -> LabelledPool:
        """Every unit is its own cluster."""
        return LabelledPool.of(self.truth, self.values, np.arange(len(self.truth)))

    def ours(self) -> Floats:
        """[judges, 2]."""
        found = estimate(self.pool(), "power")
        return np.stack([found.low, found.high], axis=1)

    def ours_resampled(self, tuning: Floats) -> Floats:
        """[judges, 2]."""
        drawn = resampled_means(self.pool(), tuning, self.draws, SEED)
        return np.quantile(drawn, [0.025, 0.975], axis=0).T

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

    def theirs_resampled(self, tuning: Floats) -> Floats:
        """[judges, 2]."""
        import ppi_py

        np.random.seed(SEED)  # noqa: NPY002 - what ppboot draws from
        return self._each(
            lambda y, f, rest, k: ppi_py.ppboot(
                np.mean, y, f, rest, lam=float(tuning[k]), n_resamples=self.draws, alpha=0.05
            )
        )


def differences(means: Means, tuning: Floats) -> dict[str, float]:
    """Largest and mean gap of ends, in widths of the interval: ours has t and n - 2, theirs z."""
    found = {}
    for name, mine, other in (
        ("closed", means.ours(), means.theirs()),
        ("resampled", means.ours_resampled(tuning), means.theirs_resampled(tuning)),
    ):
        gap = np.abs(mine - other) / (other[:, 1] - other[:, 0])[:, None]
        found |= {f"{name}_largest": float(gap.max()), f"{name}_mean": float(gap.mean())}
    return found


def measure(setting: Setting) -> dict[str, Any]:
    """Check that both sides agree, time them in turn, then the whole audit."""
    table = made(setting)
    means = Means.of(table, setting.draws)
    tuning = estimate(means.pool(), "power").tuning
    gap = differences(means, tuning)
    if not (
        gap["closed_largest"] < 2 / setting.labels
        and gap["resampled_mean"] < 2 * setting.draws**-0.5
    ):
        raise SystemExit(f"The sides disagree ({gap}): no timing is worth reporting.")
    sides: dict[str, Callable[[], object]] = {
        "judgelab_closed": means.ours,
        "ppi_py_closed": means.theirs,
        "judgelab_resampled": lambda: means.ours_resampled(tuning),
        "ppi_py_resampled": lambda: means.theirs_resampled(tuning),
    }
    times = timed(sides, setting.repeats)
    median = {side: statistics.median(taken) for side, taken in times.items()}
    start = time.perf_counter()
    result = audited(table, setting.draws)
    seconds = time.perf_counter() - start
    return {
        "setting": vars(setting),
        "difference_in_widths": gap,
        "median_seconds": median,
        "repeats_seconds": times,
        "ratio_closed": median["ppi_py_closed"] / median["judgelab_closed"],
        "ratio_resampled": median["ppi_py_resampled"] / median["judgelab_resampled"],
        "audit_seconds": seconds,
        "audit_tables": len(result.tables),
        "targets": {"audit_seconds": SECONDS, "ratio_resampled": RATIO},
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
    print(
        f"{setting.judges} judges x {setting.items} pairs, {setting.labels} labelled, "
        f"{setting.draws} resamples"
    )
    print(f"  the whole audit                       {report['audit_seconds']:8.2f} s")
    for kind, what in (("closed", "from influences"), ("resampled", "resampled      ")):
        print(
            f"  corrected means, {what}      {median[f'judgelab_{kind}']:8.4f} s; loop over ppi_py "
            f"{median[f'ppi_py_{kind}']:8.4f} s = {report[f'ratio_{kind}']:.1f} x"
        )
    return bool(report["audit_seconds"] < SECONDS and report["ratio_resampled"] >= RATIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where a target is missed."""
    return run_benchmark(
        argv, "An audit of many judges.", "outputs/bench/audit.json", Setting, measure, show
    )


if __name__ == "__main__":
    sys.exit(main())
