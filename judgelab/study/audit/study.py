"""Can I trust this judge on my data?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from judgelab.config.composing import literal
from judgelab.core.bounds import Count
from judgelab.core.errors import ChoiceError, ConfigError, DataError, some
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.report import label_page
from judgelab.stats.intervals.arrays import divide
from judgelab.study.audit.asking import Inquiry, gather
from judgelab.study.audit.averages import averages
from judgelab.study.audit.design import Bars, Design, came_in_turns
from judgelab.study.audit.drift import Before, noises
from judgelab.study.audit.evidence import Word, evidence
from judgelab.study.audit.graded import judgments_of
from judgelab.study.audit.manipulation import Manipulation
from judgelab.study.audit.page import chart, page, stack
from judgelab.study.audit.words import AuditFacts
from judgelab.study.common.judges import JudgesStudy, cost_columns
from judgelab.study.common.panels import (
    judgment_records,
    text_records,
    write_replies,
    write_sources,
)
from judgelab.study.common.stopping import Elimination, Stop

NO_LABELS = "Nobody labelled anything, so there is nothing to hold a judge against: "
LABEL = (
    "label 30 items or more on {page} (open it in a browser), and audit what it exports, or give "
    "labels that you have in a file (--people FILE, dataset.people=FILE). What judges said is kept "
    "and in the export."
)
ADD = (
    "add a column human, give labels in a file of their own (--people FILE, dataset.people=FILE), "
    "or choose study=screen, which needs none."
)
GATE: Mapping[Word, int] = {"do not use": 4, "not known yet": 5}
"""Verdict -> exit code, the worst first."""


@dataclass(frozen=True)
class Audit(JudgesStudy):
    """Two answers for each judge: may it decide on single texts, and is its average right?

    Judges are those of the data; and those of ``judges``, or without any the run's mechanism with
    its evaluation LM. With mechanism=recorded_scores nobody is asked, and metrics of the data are
    judges.

    Args:
        manipulation: probes that are tried where ``manipulate`` says so.
        rules: what is enough.
        judges: name -> evaluation_lm, mechanism and preprocessor, each as far as it is not the
            run's; or an LM alone. A file, or a list, of option names becomes that
            (``judgelab.config.judges``).
        repeats: how often judges that are asked get each question; what they say after the first
            time is their noise.
        before: folder of an earlier audit; what changed since is shown.
        manipulate: whether manipulated texts are tried; that asks several times as much.
        sampled: whether the labelled items are a random sample (true), or one within strata
            (strata); null: not known, unless all are labelled.
        details: whether the page shows all that is computed.
        prices: price list of models behind an endpoint; null: conf/prices.yaml.
        stop: when judges are asked about enough labelled items; by default about everything.
    """

    manipulation: Manipulation
    rules: Bars
    judges: Any = None
    repeats: Count = 1
    before: str | None = None
    manipulate: bool = False
    sampled: bool | Literal["strata"] | None = None
    details: bool = False
    prices: str | None = None
    stop: Stop = field(default_factory=Stop)
    named_by: ClassVar[Sequence[str]] = ("dataset",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stop.on and self.sampled == "strata":
            raise ConfigError("study.stop cannot weigh strata: leave study.sampled=strata out.")

    @classmethod
    def gate(cls, result: Mapping[str, Any]) -> int:
        """See Study; of several judges the worst verdict counts."""
        rows = next(one["rows"] for one in result["tables"] if one["name"] == "judges")
        words = {row["verdict"] for row in rows}
        return next((code for word, code in GATE.items() if word in words), 0)

    def ask(self, context: Context) -> None:
        """See Study; without stopping, as that is the most that it can ask."""
        context.no_attack("audit")
        panel = context.panels(raw=True)["clean"]
        if self.before:
            Before.of(self.before)
        if panel.criteria:
            return
        table, inquiries, _ = gather(context, panel, self.judges, Stop(), self.rules, self.repeats)
        if self.manipulate:
            self.manipulation.ask(context, inquiries, panel, table)

    def run(self, context: Context) -> Result:
        """Ask, hold against people, decide, and say it."""
        context.no_attack("audit")
        panel = context.panels(raw=True)["clean"]
        before = Before.of(self.before) if self.before else None
        if any(text is not None for row in panel.texts for text in row):
            context.run_dir.write_table("records/clean_texts.parquet", text_records(panel))
            write_sources(context, panel)
        if panel.criteria:
            return self._several(context, panel, before)
        table, inquiries, elimination = gather(
            context, panel, self.judges, self.stop, self.rules, self.repeats
        )
        context.run_dir.write_table("records/judgments.parquet", judgment_records(table))
        write_replies(context, panel, {one.name: one.lm.log for one in inquiries})
        if not table.labelled.any():
            to_label = label_page.write(context.run_dir)
            where = LABEL.format(page=context.run_dir.path / label_page.FILE) if to_label else ADD
            columns: Any = panel.provenance.get("columns_of_labels", ())
            words = {f"if people's are in {x!r}": literal(x) for x in columns}
            choices = {name: [f"dataset.columns.human={x}"] for name, x in words.items()}
            raise ChoiceError(NO_LABELS + where, choices)
        facts = self._facts(context, panel, table, inquiries, elimination, before)
        return page(facts, self.details)

    def _several(self, context: Context, panel: Panel, before: Before | None) -> Result:
        """An audit of each criterion by what the data hold, on one page (ConfigError: judges are to
        be asked, which are asked one question; or no criterion has both labels and verdicts)."""
        names = some(list(panel.criteria))
        if self.judges or context.mechanism.name != RecordedScores.name:
            raise ConfigError(
                f"The data hold several criteria ({names}), and a judge is asked about one: choose "
                "it with dataset.criterion=NAME."
            )
        tables = [
            judgment_records(table).assign(criterion=name) for name, table in panel.criteria.items()
        ]
        context.run_dir.write_table("records/judgments.parquet", pd.concat(tables))
        audits, unaudited = dict[str, AuditFacts](), list[str]()
        for name, table in panel.criteria.items():
            if not table.labelled.any() or not table.judges:
                unaudited.append(name)
                continue
            earlier = before if before is not None and len(before.verdicts_on(name)) else None
            table = judgments_of(replace(panel, judgments=table))
            audits[name] = self._facts(context, panel, table, [], None, earlier, name)
        if not audits:
            raise ConfigError(
                f"{NO_LABELS}no criterion ({names}) has both labels and verdicts; {ADD}"
            )
        if before is not None and not any(one.drifts for one in audits.values()):
            raise DataError(f"{before.name} judged none of these criteria: {names}.")
        pages = {name: page(one, self.details) for name, one in audits.items()}
        return stack(pages, chart(audits), unaudited)

    def _facts(
        self,
        context: Context,
        panel: Panel,
        table: JudgmentTable,
        inquiries: Sequence[Inquiry],
        elimination: Elimination | None,
        before: Before | None,
        criterion: str = "",
    ) -> AuditFacts:
        weight = _weight(table) if self.sampled == "strata" else None
        # strata cannot be weighed within turns: then intervals hold for one look, and words say so
        looks = elimination is not None or (weight is None and came_in_turns(table))
        design = Design.of(table, self.rules, weight, looks=looks)
        probes, trials = None, None
        if self.manipulate:
            margin = self.rules.probe
            probes, trials = self.manipulation.run(context, inquiries, panel, table, margin)
        # all labelled is a random sample of themselves
        sampled = True if self.sampled is None and table.labelled.all() else self.sampled
        judges = zip(evidence(design, probes), averages(design, sampled), strict=True)
        origins = {one.name: one.origin for one in inquiries if one.estimator}
        drifts, alone = before.drifts(design, origins, criterion) if before else ([], [])
        return AuditFacts(
            design,
            list(judges),
            panel,
            inquiries,
            origins,
            {x.name: cost_columns(x.log, x.context.evaluation_lm, self.prices) for x in inquiries},
            elimination,
            trials,
            list(noises(design)),
            before.name if before else "",
            drifts,
            alone,
        )


def _weight(table: JudgmentTable) -> Floats:
    """[units] share of the pool over share of the labels, of its stratum."""
    stratum = np.unique(table.units.stratum.astype(str), return_inverse=True)[1]
    size, labelled = np.bincount(stratum), np.bincount(stratum, table.labelled)
    share = divide(size / size.sum(), labelled / max(labelled.sum(), 1))
    return np.asarray(np.nan_to_num(share)[stratum])
