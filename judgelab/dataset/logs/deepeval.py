"""Test runs of DeepEval: cases x metrics, a file for each model or version of an application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgelab.dataset.files import Row
from judgelab.dataset.logs.log import Log, LogFile, either, part, prose, rows_of
from judgelab.dataset.rows import TEXT

TOOL = "a DeepEval test run"
ITEMS = "cases"
METRICS = ("metricsData", "metrics_data")


def recognises(content: Any) -> bool:
    """Cases list what metrics said of them."""
    cases = _cases(content) if isinstance(content, Mapping) else []
    return any(isinstance(either(row, *METRICS), list) for row in cases)


def read(files: Sequence[LogFile], log: Log) -> None:
    """Metrics are criteria, the models that they ask are judges, files are agents."""
    cases = dict[str, str]()
    for path, content in files:
        run = part(content, "testRunData") or content
        name = part(run, "hyperparameters").get("model") or run.get("identifier")
        agent = prose(name) or (path.stem if len(files) > 1 else TEXT)
        for row in _cases(content):
            question = prose(either(row, "input", "scenario"))
            text = prose(either(row, "actualOutput", "actual_output", "turns"))
            item = cases.setdefault(question or prose(row.get("name")), f"case {len(cases) + 1}")
            reference = prose(either(row, "expectedOutput", "expected_output", "expectedOutcome"))
            facts = {"text": text, "source": question, "reference": reference}
            unit = log.unit(item, agent, alike=text, **facts)
            for one in rows_of(either(row, *METRICS)):
                metric, error = prose(one.get("name")), one.get("error")
                judge = prose(either(one, "evaluationModel", "evaluation_model")) or metric
                unit.verdict(judge, None if error else one.get("score"), metric, error)


def _cases(content: Row) -> list[Row]:
    run = part(content, "testRunData") or content
    names = ("testCases", "test_cases", "test_results", "conversationalTestCases")
    return [row for name in names for row in rows_of(run.get(name))]
