"""Does an LM's estimate of P(x, y) depend on the order? (GEM paper, appendix A.5)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Headline, Result
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.mechanism.gem import Gem
from judgelab.mechanism.logprob import measure_conditional
from judgelab.stats.discrimination.correlation import joint_symmetry
from judgelab.study.common.panels import write_records
from judgelab.study.common.tables import WITHOUT_P, about, entries, estimate_rows
from judgelab.study.common.templates import paragraphs, table

HEADLINES = (
    Headline("text/spearman", "Rank correlation of both orders of two texts"),
    Headline("token/spearman", "Rank correlation of both orders, per token"),
)


@dataclass(frozen=True)
class Symmetry(Study):
    """Correlation of log P(x) + log P(y | x) with log P(y) + log P(x | y), over pairs.

    Each pair of texts of one item enters in both orders, as in the paper, which prints
    Pr[x] Pr[x | y] where Pr[x] Pr[y | x] is meant, and counts pairs as independent; here intervals
    are over items. Length alone drives the correlation of sums, so the same per token stands beside
    it.
    """

    def ask(self, context: Context) -> None:
        """See Study."""
        self._measurements(context)

    def run(self, context: Context) -> Result:
        """Measure both directions of every pair.

        Raises:
            ConfigError: the mechanism is not one of the GEM family, whose prompt is used.
        """
        panel, measurements = self._measurements(context)
        write_records(context, panel, measurements)
        arrays = (measurements[name].values for name in ("peer_given_agent", "marginal", "tokens"))
        correlations = joint_symmetry(*arrays)
        text, token = (correlations[per, "spearman"] for per in ("text", "token"))
        summary = about(context, panel, "symmetry") | {"items": len(panel.items)}
        for (per, method), estimate in correlations.items():
            summary |= entries(f"{per}/{method}", estimate, *WITHOUT_P)
        cells = (({"per": p, "correlation": how}, one) for (p, how), one in correlations.items())
        return Result(
            summary=summary,
            primary="text/spearman",
            headlines=HEADLINES,
            tables=[table(__package__, "symmetry", estimate_rows(cells, "unscored_pairs"))],
            notes=[f"Evaluation LM: {context.evaluation_lm.identity}."],
            answer=paragraphs(__package__, "symmetry.md.j2", text=text, token=token),
            estimators=[context.estimator(measurements.attrs)],
        )

    def _measurements(self, context: Context) -> tuple[Panel, xr.Dataset]:
        gem = context.mechanism
        if not isinstance(gem, Gem):
            raise ConfigError(
                f"study=symmetry uses the prompt of GEM, not of {gem.name}: choose "
                "mechanism=gem, gem_s or gem_raw."
            )
        context.no_attack("symmetry")
        panel = context.panels()["clean"]
        everybody = ~np.eye(len(panel.agents), dtype=np.bool_)
        setting = gem.setting
        context.spread(lambda lm: measure_conditional(panel, lm, setting, everybody))
        context.tell(f"{gem.name}, both directions", 0)
        return panel, measure_conditional(panel, context.evaluation_lm, setting, everybody)
