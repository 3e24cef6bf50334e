"""Judges that are asked now: what they are shown, what is open, when to stop, manipulations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from judgelab.config import build
from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.resources import conf
from judgelab.core.result import Result
from judgelab.mechanism.length import Length
from judgelab.mechanism.pairwise import Pairwise
from judgelab.study.audit import Audit
from judgelab.study.audit.asking import _rounds
from judgelab.study.audit.design import Bars
from judgelab.study.audit.manipulation import Manipulation
from judgelab.study.common.stopping import Stop
from tests.e2e.conftest import inside, only_run, result
from tests.judgment_tables import audit_context, rows
from tests.scripted_judges import (
    MARKER,
    SHOWN,
    Chat,
    chat,
    falls_for_marker,
    merits,
    noisy,
    oracle,
    write_panel,
)

JUDGE = "{_target_: tests.scripted_judges.ScriptedJudge, rule: %s}"
NOBODY: Any = None


def audited(folder: Path, *words: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Records and result of a run on the panel of four graded agents (tests.scripted_judges)."""
    panel = folder / "panel.jsonl"
    if not panel.exists():
        folder.mkdir(exist_ok=True)
        write_panel(panel, 6)
    given = ["study=audit", "dataset=jsonl", "tracker=none", f"dataset.path={panel}"]
    inside(folder, [*given, *words])
    return pd.read_parquet(only_run(folder) / "records" / "judgments.parquet"), result(folder)


def asked(*rules: str) -> list[str]:
    return [f"+study.judges.{rule}={JUDGE % rule}" for rule in rules]


def values(table: pd.DataFrame, by: str, order: int = 0) -> np.ndarray:
    return table[(table["by"] == by) & (table["order"] == order)]["value"].to_numpy(float)


def test_a_judge_that_compares_makes_pairs_of_graded_texts(tmp_path: Path) -> None:
    grader = "+study.judges.words={mechanism: {_target_: judgelab.mechanism.length.Length}}"
    table, _ = audited(tmp_path, "mechanism=pairwise", *asked("one", "longer", "oracle"), grader)
    people = values(table, "people")
    assert len(people) == 6 * 6
    assert (values(table, "longer") == 1 - people).all()  # the worse of these texts is longer
    assert (values(table, "one") == 1).all() and (values(table, "one", 1) == 0).all()
    assert (values(table, "oracle") == people).mean() > 0.7
    for order in (0, 1):
        assert (values(table, "words", order) == values(table, "longer")).all()
    (run,) = (tmp_path / "runs").glob("*")
    said = pd.read_parquet(run / "records" / "clean_reply_texts.parquet")
    counts = said.groupby("judge")["reply"].size().to_dict()
    assert counts == dict.fromkeys(("one", "longer", "oracle"), 2 * 6 * 6)


def test_the_run_itself_is_the_judge_where_none_is_named(tmp_path: Path) -> None:
    table, _ = audited(tmp_path, "mechanism=rouge_l", "mechanism.peers=true")
    assert set(table["by"]) == {"people", "rouge_l"}
    assert set(table["second"]) == {""}, "a judge that grades leaves texts as units"
    assert _rounds({(0, 1), (0, 2), (1, 2)}) == [(0, 1, 2)]
    assert _rounds({(0, 1), (1, 2)}) == [(0, 1), (1, 2)], "pairs that people did not compare"


def test_metrics_of_the_data_are_judges(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    lines = [f"i{k},s{a},{a},{a * k},{-a}" for k in range(4) for a in range(3)]
    path.write_text("\n".join(["item,system,human,rouge,bleu", *lines]))
    given = ["dataset=table", f"dataset.path={path}", "dataset.judges=[rouge,bleu]"]
    table, _ = audited(tmp_path, *given)
    assert (values(table, "bleu") == -values(table, "people")).all()
    with pytest.raises(DataError, match="There is no text to ask one about"):
        audited(tmp_path, *given, "mechanism=pairwise", *asked("one"))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([], ConfigError, "There is no judge to audit"),
        (["mechanism=pairwise"], CapabilityError, "needs an LM with chat"),
        (asked("one"), ConfigError, "study.judges.one says not by which mechanism"),
        (["mechanism=rouge_l", "attack=padding"], ConfigError, "set attack=none"),
        (["+study.judges.a={lm: 3}"], ConfigError, "study.judges.a.lm is not a known key"),
        (["+attack@study.manipulation.probes.placebo=case_flip"], ConfigError, "another name"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    tmp_path: Path, given: list[str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        audited(tmp_path, *given)


def test_a_dry_run_counts_what_the_run_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["mechanism=pairwise", *asked("one", "longer"), "limit=4"]
    given += ["study.manipulate=true", "study.manipulation.items=3"]
    for more in (given, [*given, "study.manipulate=false"]):
        with pytest.raises(FileNotFoundError):  # it leaves no run
            audited(tmp_path, *more, "dry_run=true")
        told = capsys.readouterr().out
        _, result = audited(tmp_path / str(len(more)), *more)
        assert f"All together: {result['summary']['lm_calls']:,} calls to ask" in told


def test_names_of_judges_are_no_paths(tmp_path: Path) -> None:
    """A judge called ``..`` wrote into the run's own records; two shared a folder."""
    entries = [{"name": name, "mechanism": "length"} for name in ("..", "a/b", "a b", "../../x")]
    (tmp_path / "judges.yaml").write_text(yaml.safe_dump(entries))
    before = {"judges.yaml", "panel.jsonl", "runs"}
    table, result = audited(tmp_path, f"study.judges={tmp_path / 'judges.yaml'}")
    assert set(table["by"]) == {"people", "..", "a/b", "a b", "../../x"}
    (run,) = (tmp_path / "runs").iterdir()
    assert {file.name for file in tmp_path.iterdir()} - {"cache"} == before
    kinds = {file.name for file in run.iterdir() if file.is_dir()}
    assert kinds <= {"records", "tables", "figures", "logs", ".hydra"}, kinds
    assert len(next(t for t in result["tables"] if t["name"] == "judges")["rows"]) == 4


def ask(folder: Path, panel: Panel, rules: dict[str, float] | None = None, **given: Any) -> Result:
    """What an audit says of LMs that are asked pairwise; others are settings of the study."""
    judges = {name: given.pop(name) for name in list(given) if isinstance(given[name], Chat)}
    study = Audit(given.pop("manipulation", NOBODY), Bars(**(rules or {})), judges, **given)  # type: ignore[arg-type]
    return study.run(audit_context(panel, folder, mechanism=Pairwise(Prompt("pairwise.txt"))))


def test_calls_that_were_not_sent_are_open_and_no_failure(tmp_path: Path) -> None:
    """Unsent calls counted half right, and "change its prompt" would have thrown away the paid."""

    def late(text: str) -> bool:
        return any(f"topic{k}x" in text for k in range(45, 80))

    part = ask(tmp_path / "part", merits(), {"minimum": 0.7}, judge=chat(noisy(0.1), late))
    head = ask(tmp_path / "head", merits(45), {"minimum": 0.7}, judge=chat(noisy(0.1)))
    (one,), (two,) = rows(part, "judges"), rows(head, "judges")
    for key in ("agreement", "agreement_low", "agreement_high", "labelled_items"):
        assert one[key] == two[key]
    assert one["without_verdict"] == 0 and part.summary["open_verdicts"] == 2 * 35
    assert one["verdict"] == "not known yet"
    said = dict(part.answer)
    assert said["Partial"].startswith("70 verdicts are open") and "prompt" not in str(said)


def test_one_judge_is_asked_until_its_interval_is_narrow(tmp_path: Path) -> None:
    lm = chat(noisy(0.15))
    stop = Stop(width=0.35)
    found = ask(tmp_path / "stop", merits(), {"minimum": 0.5}, judge=lm, stop=stop)
    (row,) = rows(found, "judges")
    n = len(lm.seen) // 2
    assert 30 <= n < 80 and row["labelled_items"] == n
    assert float(row["agreement_high"]) - float(row["agreement_low"]) <= 0.35  # type: ignore[arg-type]
    sources = {SHOWN.search(one.messages[0].content)[1].split("x")[0][5:] for one in lm.seen}  # type: ignore[index]
    wrong = [np.random.default_rng(int(k)).random() < 0.15 for k in sources]
    assert row["agreement"] == pytest.approx(1 - np.mean(wrong)), "as of all that was asked"
    assert "Known to a width of .35" in dict(found.answer)["Stopped early"]


def test_an_order_is_sure_after_enough_labels_and_a_tie_is_none(tmp_path: Path) -> None:
    stop, best, worst = Stop(order=0.95), chat(oracle), chat(noisy(0.9))
    found = ask(tmp_path / "a", merits(), {"labels": 40}, best=best, worst=worst, stop=stop)
    assert len(best.seen) == len(worst.seen) == 2 * 40, "sure after 20, and 40 are wanted"
    said = dict(found.answer)["Stopped early"]
    assert "best first: best and worst" in said
    with pytest.raises(ConfigError, match="order"):
        ask(tmp_path / "b", merits(), judge=chat(oracle), stop=stop)
    near = Stop(order=0.95, width=0.5)
    found = ask(tmp_path / "c", merits(), one=chat(oracle), two=chat(oracle), stop=near)
    said = dict(found.answer)["Stopped early"]
    assert "one and two differ by less than .5: a tie" in said
    assert "best first" not in said and "is the best" not in said
    with pytest.raises(ConfigError, match="needs labels"):
        bare = merits(40)
        bare = replace(bare, items=tuple(replace(one, human={}) for one in bare.items))
        ask(tmp_path / "d", bare, one=chat(oracle), two=chat(oracle), stop=stop)


def test_single_graded_texts_are_counted_though_two_are_a_turn(tmp_path: Path) -> None:
    """The page said "30 of 30 labelled items" of 60, and 30 labels wanted were 60."""
    texts = [("a " * (k + 1),) for k in range(60)]
    items = [Item(f"i{k}", "", human={"a": k}) for k in range(60)]
    panel = Panel(tuple(items), (Agent("a"),), tuple(texts), task="question_answering")
    study = Audit(NOBODY, Bars(), stop=Stop(width=0.9))
    found = study.run(audit_context(panel, tmp_path, mechanism=Length()))
    said = dict(found.answer)["Stopped early"]
    assert said.startswith("Asked about 30 of 60 labelled items (length 30); 50% of all")
    assert rows(found, "judges")[0]["labelled_items"] == 30


def attack(name: str) -> Any:
    return build(yaml.safe_load((conf() / "attack" / f"{name}.yaml").read_text("utf-8")), name)


def test_every_flaw_is_found_and_no_other(tmp_path: Path) -> None:
    names = ("instruction", "padding")
    probes = Manipulation({name: attack(name) for name in names}, attack("placebo"))
    marked = chat(falls_for_marker)
    found = ask(
        tmp_path, merits(), {"minimum": 0.6},
        oracle=chat(oracle), marked=marked, first=chat(lambda *_: "one"),
        manipulation=probes, manipulate=True,
    )  # fmt: skip
    told = {(r["judge"], r["manipulation"]): r["answer"] for r in rows(found, "manipulation")}
    safe = dict.fromkeys([(j, p) for j in ("oracle", "marked", "first") for p in names])
    safe = dict.fromkeys(safe, "does not fall")
    assert told == safe | {("marked", "instruction"): "falls"}
    judged = {row["judge"]: row["verdict"] for row in rows(found, "judges")}
    assert judged == {"oracle": "use", "marked": "do not use", "first": "do not use"}
    shown = [one.messages[0].content for one in marked.seen[160:]]  # placebo, then both probes
    count = [text.count(MARKER) for text in shown]
    assert count == [0] * 160 + [1] * 160 + [0] * 160, "one text of a pair is attacked"
    assert sum(MARKER in text.split("[Answer two]")[0] for text in shown) == 80
