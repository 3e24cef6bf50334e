"""No call that gave nothing goes untold: an LM that fails in every way, whatever asks it."""

from __future__ import annotations

import ast
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.calls.log import CallLog
from judgelab.config import build, frame, resolved
from judgelab.config.composing import composed, read_option
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.result import Result
from judgelab.engine.context import Context, Parts
from judgelab.engine.models import Models
from judgelab.engine.provenance import RECORD, stem_of, with_reasons
from judgelab.store.run_dir import RunDir
from tests.contract.test_floors import trees
from tests.failing_lm import FailingEndpoint, FailingLM

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
READERS = ("agents", "attack", "exam", "mechanism", "preprocessor", "study", "synopsis")
VERBS = {Capability.CHAT: "chat", Capability.LOGPROB: "logprob"}
REVIEWS = ("dataset.task=peer_review",)
STUDIES = (  # those whose own way of asking or counting is not discrimination's
    ("chat", "study=validation", "mechanism=pairwise"),
    ("chat", "study=discernment", "mechanism=pointwise5", "study.by=lm"),
    ("chat", "study=ranking_confidence", "mechanism=lm_examiner", *REVIEWS),
    ("logprob", "study=symmetry", "mechanism=gem", *REVIEWS),
    ("logprob", "study=discernment", "mechanism=rating_likelihood"),
    ("logprob", "study=leaderboard", "mechanism=gem", *REVIEWS, "study.references=[good]"),
    ("chat", "agents=prompted", "mechanism=pointwise5"),
    ("chat", "synopsis=assw", "synopsis.by=lm", "mechanism=pointwise5"),
    ("chat", "preprocessor=judgments", "mechanism=judge", *REVIEWS),
    ("chat", "attack=deletion_completion", "attack.by=lm", "mechanism=pointwise5"),
)
JUDGES = (
    "study=qualification",
    "study.pertinence.relevant=good",
    "study.pertinence.irrelevant=poor",
    "study.self_confidence.easy=[good,poor]",
    "study.self_confidence.hard=[good,fair]",
)


@dataclass(frozen=True)
class Done:
    """A study that was run."""

    result: Result
    outcomes: CallLog
    lms: tuple[Any, ...]
    folder: Path

    @property
    def lost(self) -> list[str]:
        """Why calls gave nothing, as the LMs say."""
        return sorted(reason for lm in self.lms for reason in lm.lost.values())


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """``run(lm, "study=...", ...)`` on 4 items x 3 agents, as a run does it."""
    rows = [
        {
            "id": f"i{k}",
            "source": f"We show that ferry {k} outperforms all others. It is limited to May.",
            "reference": f"Ferry {k} leaves at nine.",
            "synopsis": f"Of ferry {k}.",
            "responses": {n: f"{n} says that ferry {k} leaves." for n in ("good", "fair", "poor")},
            "human": {"good": 5, "fair": 3, "poor": 1},
        }
        for k in range(4)
    ]
    (tmp_path / "panel.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    common = ["dataset=jsonl", f"dataset.path={tmp_path}/panel.jsonl", "agents=recorded"]
    common += ["dataset.task=summarization", f"paths.root={tmp_path}", "tracker=none"]
    common += ["evaluation_lm=compression"]

    def call(lms: EvaluationLM | dict[str, FailingLM], *overrides: str) -> Done:
        judges = lms if isinstance(lms, dict) else {}
        lm = next(iter(lms.values())) if isinstance(lms, dict) else lms
        config = resolved(composed([*common, *overrides]))
        folder = RunDir(tmp_path / "run")
        models = Models(frame(config), folder.path)
        parts = _with(config, lm, judges).with_lms(models.use)
        context = Context.of(parts, run_dir=folder, seed=0, limit=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # means of nothing
            found = parts.study.run(context)
        result = with_reasons(found, models.log, folder, parts.mechanism.name)
        models.close()
        return Done(result, models.log, tuple(judges.values()) or (lm,), folder.path)

    yield call


def _with(config: dict[str, Any], lm: EvaluationLM, judges: dict[str, FailingLM]) -> Parts:
    if judges:
        config["study"]["judges"] = {}
    axes = ("dataset", "agents", "synopsis", "preprocessor", "attack", "mechanism", "study")
    parts = Parts(**{axis: build(config[axis], axis) for axis in axes}, evaluation_lm=lm)
    return replace(parts, study=replace(parts.study, judges=judges)) if judges else parts


def told_in_full(done: Done) -> None:
    """Every failure is in the account, the record, the summary and the table, with its reason."""
    asked = sum(len(lm.asked) for lm in done.lms)
    reasons = [one.reason for one in done.outcomes.unscored]
    assert done.lost, "nothing failed, so nothing is tested"
    assert (done.outcomes.calls, len(reasons)) == (asked, len(done.lost))
    unanswered = sorted(reason for reason in done.lost if reason != "unreadable")
    unread = [one for one in done.outcomes.unscored if one.reply is not None]
    assert sorted(set(reasons) - {one.reason for one in unread}) == sorted(set(unanswered))
    assert all(one.settled for one in unread)

    summary = done.result.summary
    assert (summary["lm_calls"], summary["unscored_calls"]) == (asked, len(done.lost))
    table = next(one for one in done.result.tables if one.name == "unscored")
    assert {row["reason"] for row in table.rows} == set(map(stem_of, reasons))
    assert sum(int(str(row["calls"])) for row in table.rows) == len(done.lost)
    assert all(row["example"] for row in table.rows)
    record = pd.read_parquet(done.folder / RECORD)
    assert sorted(record["reason"]) == sorted(reasons)
    assert record["call"].is_unique and record["item"].notna().all()


def of_each_agent(done: Done) -> None:
    """A text whose own call is lost is unscored; calls on pairs leave out pairs of texts."""
    summary, texts = done.result.summary, {one.about[1:3] for one in done.outcomes.unscored}
    if "clean/dropped_pairs" in summary:
        left_out, one_order = summary["clean/dropped_pairs"], summary["clean/one_order_pairs"]
        assert left_out or one_order or summary["clean/unscored_texts"]
        return
    rows = next(table.rows for table in done.result.tables if table.name == "agents")
    assert summary["clean/unscored_texts"] == len(texts)
    told = {str(row["agent"]): row["unscored"] for row in rows}
    assert told == {agent: sum(agent == own for _, own in texts) for agent in told}


def _asking() -> list[tuple[str, str]]:
    """Every mechanism that asks an LM, by each verb that it may ask by."""
    found = []
    for file in sorted((CONF / "mechanism").glob("*.yaml")):
        verbs = frozenset().union(*build(read_option(file), "mechanism").requires)
        found += [(kind, file.stem) for verb, kind in VERBS.items() if verb in verbs]
    return found


ASKING = _asking()


@pytest.mark.parametrize(("kind", "mechanism"), ASKING)
def test_every_mechanism_tells_every_call(run: Run, kind: str, mechanism: str) -> None:
    streams = ASKING.index((kind, mechanism)) % 2
    task = REVIEWS if mechanism == "lm_examiner" or mechanism.startswith("gem") else ()
    done = run((FailingLM, FailingEndpoint)[streams](kind), f"mechanism={mechanism}", *task)
    told_in_full(done)
    if "chat_eval" not in mechanism:  # silent roles put a question twice, asked and paid once
        of_each_agent(done)
    assert str(done.result.notes[0]) == done.result.summary["unscored_warning"]


@pytest.mark.parametrize("chosen", STUDIES, ids=lambda one: " ".join(one[1:]))
def test_every_study_and_step_tells_every_call(run: Run, chosen: tuple[str, ...]) -> None:
    told_in_full(run(FailingLM(chosen[0]), *chosen[1:]))


@pytest.mark.parametrize("by", ["probability", "words"])
@pytest.mark.parametrize("kind", ["chat", "labels"])
def test_exams_tell_every_call_of_every_judge(run: Run, kind: str, by: str) -> None:
    judges = {"one": FailingLM(kind), "two": FailingEndpoint(kind, rate=4)}
    done = run(judges, *JUDGES, f"study.self_confidence.by={by}")
    told_in_full(done)
    # of 4 items: 3 pairs in either order compared, 1 pair in both orders, 2 sets of 1 pair in both
    put = {"consistency": 4 * 3, "pertinence": 4 * 2, "self_confidence": 4 * 2 * 2}
    rows = next(table.rows for table in done.result.tables if table.name == "exams")
    assert len(rows) == len(put) * len(judges)
    for row in rows:
        assert row["n"] + row["unscored"] == put[str(row["exam"])] and row["n"] > 0, row


def test_what_is_not_lost_says_so(run: Run) -> None:
    done = run(FailingLM("logprob", rate=10**12), "mechanism=mi")
    assert not math.isnan(float(str(done.result.summary["unscored_share"])))
    assert done.result.summary["unscored_calls"] == 0
    assert "unscored" not in {table.name for table in done.result.tables}
    assert not (done.folder / RECORD).exists()


def test_a_run_from_the_cache_alone_tells_the_same(run: Run) -> None:
    before, again = (run(FailingEndpoint("chat"), "mechanism=judge") for _ in range(2))
    kept = [one for one in before.outcomes.unscored if one.settled]
    assert [one for one in again.outcomes.unscored if one.settled] == kept
    assert again.result.summary["lm_calls"] == before.result.summary["lm_calls"]
    unsettled = len(before.outcomes.unscored) - len(kept)
    assert len(again.lms[0].asked) == unsettled, "those alone are asked again"


def test_nobody_reads_replies_past_the_account() -> None:
    for file, tree in trees().items():
        for node in ast.walk(tree) if file.parts[0] in READERS else ():
            asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            assert not (asks and node.func.attr == "chat"), f"{file}: ask by Exchange.ask"
