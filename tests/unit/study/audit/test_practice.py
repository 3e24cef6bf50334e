"""What practice asks of an audit: noise of a judge, changes since a run, several criteria."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgelab
from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.table import LabelledTable
from judgelab.python.results import RunResult
from judgelab.stats.trust.biases import crossed_orders
from judgelab.study.audit.drift import UNKNOWN
from judgelab.study.audit.graded import as_classes, as_grades
from judgelab.study.common.panels import judgment_records
from tests.judgment_tables import KINDS, audited, doubled, pairs, renamed, rows, shuffled, swapped
from tests.unit.study.audit.test_asking import asked
from tests.unit.study.audit.test_asking import audited as asked_now
from tests.unit.study.audit.test_shuffled import TOLD, told

SHARES = ("two_verdicts_differ", "mean_distance")


def noisy(kind: str, rng: np.random.Generator) -> Any:
    """A table of that kind, whose judges were asked up to three times."""
    table = KINDS[kind](rng)
    again = np.repeat(table.verdicts[..., None], 2, axis=-1)
    again = np.where(rng.random(again.shape) < 0.2, again[:, ::-1], again)
    again[rng.random(again.shape) < 0.1] = np.nan
    return replace(table, again=again)


@TOLD
def test_noise_hangs_on_no_order_and_no_name(kind: str) -> None:
    rng = np.random.default_rng(5)
    table = noisy(kind, rng)
    first = audited(table)
    assert told(audited(shuffled(table, rng)), None, "noise", "judges") == told(
        first, None, "noise", "judges"
    )
    other, names = renamed(table, rng)
    assert told(audited(other), names, "noise") == told(first, None, "noise")
    assert told(first) == told(audited(replace(table, again=table.again[..., :0])))
    once = {(row["judge"], row["who"]): row for row in rows(first, "noise")}
    assert len(once) >= len(table.judges)
    for row in rows(audited(doubled(table)), "noise"):
        for key in row.keys() & set(SHARES):
            assert row[key] == pytest.approx(once[row["judge"], row["who"]][key])


def gate(seed: int = 0, right: float = 0.85, items: int = 200) -> pd.DataFrame:
    """People's pass or fail of texts, two people on some, and a judge's verdict."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(99).random(items) < 0.6
    said = np.where(rng.random(items) < right, truth, ~truth)
    words = np.array(["fail", "pass"])
    names = [f"t{k}" for k in range(items)]
    judge = pd.DataFrame({"id": names, "judge": "gpt", "verdict": words[said.astype(int)]})
    ann = pd.DataFrame({"id": names, "rater": "ann", "human": words[truth.astype(int)]})
    bob = ann.iloc[::2].assign(rater="bob")
    bob.loc[bob.index[::5], "human"] = "fail"
    return pd.concat([judge, ann, bob], ignore_index=True)


def audit(table: pd.DataFrame, folder: Path, **more: Any) -> RunResult:
    made = judgelab.audit(
        table, rules={"minimum": 0.7}, tracker="none", paths__root=str(folder), **more
    )
    assert made is not None
    return made


def plain(made: RunResult, name: str, *left: str) -> list[dict[str, Any]]:
    table = made.tables[name].drop(columns=[*left]).round(9).astype(object)
    table = table.where(table.notna(), "")
    return sorted(table.to_dict("records"), key=str)


def test_the_first_run_by_number_is_the_verdict(tmp_path: Path) -> None:
    """Not the first row, and not the first by spelling; one table without runs says the same."""
    table = gate()
    runs = [gate(seed).dropna(subset="judge").assign(run=run) for seed, run in ((0, 9), (1, 10))]
    people = table[table["judge"].isna()]
    both = pd.concat([people, *runs]).sample(frac=1, random_state=3)
    first, found = audit(table, tmp_path), audit(both, tmp_path)
    assert plain(found, "judges") == plain(first, "judges")
    assert "noise" not in first.tables and len(found.tables["noise"]) == 3
    named = both.assign(epoch=both["run"].map({9: "a", 10: "b"})).drop(columns="run")
    assert plain(audit(named, tmp_path), "noise") == plain(found, "noise")
    with pytest.raises(DataError, match="says once more"):
        audit(both.drop(columns="run"), tmp_path)


def test_a_judge_that_is_asked_thrice(tmp_path: Path) -> None:
    """Each reply is drawn anew and paid, and the first one counts as without repeats."""
    words = ("mechanism=pairwise", *asked("oracle", "one"))
    once, alone = asked_now(tmp_path / "once", *words)
    table, result = asked_now(tmp_path / "more", *words, "study.repeats=3")
    judged = table[table["role"] == "judge"]
    assert judged["run"].value_counts().to_dict() == dict.fromkeys(range(3), 144)
    first = judged[judged["run"] == 0].drop(columns="run").reset_index(drop=True)
    pd.testing.assert_frame_equal(first, once[once["role"] == "judge"].reset_index(drop=True))
    tables = [{one["name"]: one["rows"] for one in found["tables"]} for found in (alone, result)]
    calls = [{row["judge"]: row["calls"] for row in one["judges"]} for one in tables]
    assert calls[1] == {name: 3 * n for name, n in calls[0].items()}
    assert all(row["two_verdicts_differ"] == 0 for row in tables[1]["noise"])


def test_then_and_now_change_the_sign_alone(tmp_path: Path) -> None:
    then, now = gate(0, 0.9), gate(1, 0.75)
    now = now[now["id"] != "t0"].sample(frac=1, random_state=1)
    one, two = audit(then, tmp_path), audit(now, tmp_path)
    onward, back = (
        audit(table, tmp_path, before=str(run.path)) for table, run in ((now, one), (then, two))
    )
    shown = [made.tables["drift"].set_index("what") for made in (onward, back)]
    same = "verdicts that changed"
    assert shown[0].loc[same, "change"] == shown[1].loc[same, "change"] > 0
    for what in ("agreement with people", "finds 'pass'", "finds 'fail'"):
        a, b = (one.loc[what] for one in shown)
        assert [a["before"], a["now"]] == pytest.approx([b["now"], b["before"]])
        assert [a["change"], a["change_low"]] == pytest.approx([-b["change"], -b["change_high"]])
        assert a["items"] == b["items"] > 50
    known = dict(onward.content["answer"])["Drift"]
    assert UNKNOWN in known and one.path.name in known
    other = now.replace({"judge": {"gpt": "gpt-new"}, "verdict": {"pass": "1", "fail": "0"}})
    renamed = audit(other, tmp_path, before=str(one.path), positive="pass")
    assert plain(renamed, "drift", "judge") == plain(onward, "drift", "judge")
    assert onward.path != audit(now, tmp_path, before=str(two.path)).path
    more = then[then["judge"] == "gpt"].assign(judge="old")
    both = audit(pd.concat([then, more]), tmp_path)
    after = audit(now, tmp_path, before=str(both.path))
    assert "only one of the two runs has them: old." in dict(after.content["answer"])["Drift"]


def test_pairs_may_be_stored_the_other_way_round_since(tmp_path: Path) -> None:
    table = pairs(np.random.default_rng(2))
    long = swapped(table, np.arange(90) % 2 == 0)
    frames = [_frame(one) for one in (table, long)]
    first = audit(frames[0], tmp_path)
    drift = audit(frames[1], tmp_path, before=str(first.path)).tables["drift"]
    assert (drift["change"] == 0).all() and len(drift) == 2 * len(table.judges)


def _frame(table: Any) -> pd.DataFrame:
    long = judgment_records(table)
    names = {1.0: long["first"], 0.0: long["second"], 0.5: "tie"}
    said = pd.Series("", index=long.index)
    for value, name in names.items():
        said = said.where(long["value"] != value, name)
    judge = long["role"] == "judge"
    return pd.DataFrame(
        {
            "id": long["item"], "agent": long["first"], "other": long["second"],
            "rater": long["by"].where(~judge), "preference": said.where(~judge),
            "judge": long["by"].where(judge), "order": long["order"], "verdict": said.where(judge),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished audit."""
    return audit(gate(1), tmp_path_factory.mktemp("earlier")).path


@pytest.mark.parametrize("fault", ["missing", "unfinished", "altered", "study", "items", "judges"])
def test_a_run_that_cannot_be_compared_is_named(tmp_path: Path, earlier: Path, fault: str) -> None:
    run, table = tmp_path / "nowhere", gate()
    if fault != "missing":
        run = shutil.copytree(earlier, tmp_path / "runs" / earlier.name)
    if fault == "unfinished":
        (run / "DONE").unlink()
    if fault == "altered":
        (run / "records" / "judgments.parquet").unlink()
    if fault == "study":
        other = judgelab.run(
            "mechanism=length", "limit=4", "tracker=none", f"paths.root={tmp_path}"
        )
        assert other is not None
        run = other.path
    if fault == "items":
        table["id"] += " of others"
    if fault == "judges":
        table = pd.concat([table.replace("gpt", name) for name in ("x", "y")]).drop_duplicates()
    with pytest.raises((ConfigError, DataError), match=run.name):
        audit(table, tmp_path, before=str(run))


def test_each_criterion_is_audited_by_its_own_labels(tmp_path: Path) -> None:
    """As alone on the page; labels of another criterion change nothing; the worst stands first."""
    good, bad = gate(0, 0.9).assign(criterion="tone"), gate(1, 0.6).assign(criterion="facts")
    table = pd.concat([good, bad]).sample(frac=1, random_state=2)
    both = audit(table, tmp_path)
    assert "'facts' is the worst" in both.content["title"]
    assert both.content["summary"]["worst_criterion"] == "facts"
    assert list(both.tables["judges"]["criterion"]) == ["facts", "tone"]
    for name in ("facts", "tone"):
        alone = audit(table, tmp_path, dataset__criterion=name)
        for kind in ("judges", "conditions", "confusion", "classes", "averages", "disagreements"):
            shown = both.tables[kind]
            shown = shown[shown["criterion"] == name].drop(columns="criterion")
            pd.testing.assert_frame_equal(
                shown.reset_index(drop=True), alone.tables[kind], check_dtype=False
            )
    changed = table.copy()
    changed.loc[(changed["criterion"] == "tone") & changed["human"].notna(), "human"] = "pass"
    other, kept = audit(changed, tmp_path).tables["judges"], both.tables["judges"]
    pd.testing.assert_frame_equal(other.iloc[:1], kept.iloc[:1])
    assert other["agreement"][1] != kept["agreement"][1]
    later = audit(table, tmp_path, before=str(both.path)).tables["drift"]
    assert set(later["criterion"]) == {"facts", "tone"} and (later["change"] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_stands_for_its_stratum(kind: str) -> None:
    """Half of a stratum labelled says what the whole says, where the other half is the same."""
    table = KINDS[kind](np.random.default_rng(3))
    table = table.at(table.labelled)
    units = table.units
    half = np.array([sum(map(ord, str(name))) % 2 > 0 for name in units.item])
    table = replace(table, units=replace(units, stratum=np.where(half, "b", "a").astype(object)))
    twice = doubled(table)
    kept = np.flatnonzero((np.arange(len(twice.units)) < len(half)) | np.tile(half, 2))
    whole = twice.at(kept)
    later = kept >= len(half)
    part = replace(whole, labels=np.where(later[:, None], np.nan, whole.labels))
    one, two = audited(whole), audited(part, sampled="strata")
    for a, b in zip(rows(one, "judges"), rows(two, "judges"), strict=True):
        for key in ("agreement", "kappa", "agreement_of_people", "agreement_of_that_rule"):
            assert a.get(key) == pytest.approx(b.get(key), abs=1e-9), key


def test_orders_that_contradict_people_once_name_the_numbering() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["A", "B"], 60)
    other = {"A": "B", "B": "A"}
    rows = [
        {"id": str(k), "agent": "x", "other": "y", "preference": label, "judge": name}
        | {"order": order, "verdict": verdict}
        for k, label in enumerate(labels)
        for order in (0, 1)
        for name, verdict in (
            ("shown", other[label] if order else label),
            ("stored", label),
            ("first", "B" if order else "A"),
        )
    ]
    for numbering, names in (("stored", ["shown"]), ("shown", ["stored"])):
        panel = LabelledTable(numbering=numbering).of(pd.DataFrame(rows))
        assert panel.judgments is not None
        judges, table = np.array(panel.judgments.names), panel.judgments
        assert list(judges[crossed_orders(table.verdicts, table.labels)]) == names


def test_grades_of_a_rubric_are_the_words_of_its_levels() -> None:
    """The worst level may well be called yes; in whatever order levels stand, words decide."""
    table = pd.DataFrame({"id": range(6), "human": ["yes", "no"] * 3, "a": ["yes", "no", "no"] * 2})
    before = LabelledTable(judges=["a"]).of(table).judgments
    assert before is not None
    graded = as_grades(before)
    for levels, same in (((), True), (("no", "yes"), True), (("Yes", "No"), False)):
        again = as_classes(graded, before, {"a": levels})
        wanted = before.verdicts if same else 1 - before.verdicts
        assert np.array_equal(again.verdicts, wanted) and again.levels == before.levels
