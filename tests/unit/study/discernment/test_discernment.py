"""The discernment study: judges whose discernment is known by construction."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.attack.padding import Padding
from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.lm import Capability, ChatRequest
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.mechanism.bleu import Bleu
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.study.common.judges import NamedJudge
from judgelab.study.discernment.study import Discernment
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.study.discernment.discernment_context import (
    QUICK,
    TEXT,
    at_random,
    counts_typos,
    drawn,
    lab,
    rated_text,
    references,
    rows,
    vocabulary,
)


def test_a_judge_that_answers_at_random_stays_below_its_threshold(tmp_path: Path) -> None:
    context = lab(tmp_path, ScriptedChat(at_random), panel=references().head(30))
    result = Discernment(**QUICK).run(context)
    over, each = rows(result, "averages", "statistic"), rows(result, "discernment", "perturbation")
    assert all(
        over[name]["value"] < over[name]["threshold"] for name in ("average_ew", "minimum_ew")
    )
    below = [row["value"] <= row["threshold"] for row in each.values()]
    assert len(below) == 8 and sum(below) >= 7, "5 % of 8 may pass"
    assert result.answer[0][1].startswith("This judge (rating) does not see: deletions_minor")


def test_a_judge_that_counts_typos_sees_them_and_no_reordering(tmp_path: Path) -> None:
    only = ["typos_minor", "typos_major", "reordering_minor", "reordering_major"]
    context = lab(tmp_path, ScriptedChat(counts_typos), panel=references().head(30))
    result = Discernment(only=only, **QUICK).run(context)
    found = rows(result, "discernment", "perturbation")
    assert found["typos_minor"]["value"] > 5 and found["typos_major"]["value"] > 5
    assert found["reordering_minor"]["value"] == found["reordering_major"]["value"] == 0
    assert [found[name]["seen"] for name in only] == ["yes", "yes", "no", "no"]
    assert result.summary["not_seen"] == "reordering_minor, reordering_major"
    assert result.summary["discernment/minimum_ew"] == 0
    assert all(one.figure.axes and one.caption for one in drawn(result))


def panel_of(*texts: str) -> Panel:
    items = tuple(Item(f"i{k}", "source", text) for k, text in enumerate(texts))
    return Panel(items, provenance={"dataset": "summeval"})


def test_n_is_what_each_figure_rests_on(tmp_path: Path) -> None:
    """Fluency is unread on 20 of 60 items; with all weight elsewhere, D EW rests on 60."""
    by_id = {item.id: k for k, item in enumerate(references().items)}

    def rule(request: ChatRequest) -> str | None:
        _, item, _, metric = request.key[:4]
        if metric == "fluency":
            return None if by_id[item] < 20 else counts_typos(request)
        return str(max(int(counts_typos(request)), 4)) if metric == "coherence" else "3"

    own = tmp_path / "own.yaml"
    own.write_text("summarization: {typos: {coherence: 1, fluency: 0}}\n")
    study = Discernment(only=["typos_minor", "typos_major"], weights=str(own), **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(rule)))
    found = rows(result, "discernment", "perturbation")["typos_major"]
    assert (found["n"], found["d_n"], found["unscored"]) == (60, 40, 0)
    over = rows(result, "averages", "statistic")
    assert (over["average_ew"]["n"], over["average"]["n"]) == (60, 40)
    assert (over["average_ew"]["unscored"], over["average"]["unscored"]) == (0, 20)


@pytest.mark.parametrize("items", [1, 4, 6])
def test_where_chance_is_open_nothing_counts_as_unseen(tmp_path: Path, items: int) -> None:
    """Of four references D is .926 at most; a judge that rated all changed texts lower "did not
    see" them."""
    context = lab(tmp_path, ScriptedChat(counts_typos), panel=references().head(items))
    result = Discernment(only=["typos_major"], **QUICK).run(context)
    row = rows(result, "discernment", "perturbation")["typos_major"]
    (heading, said), summary = result.answer[0], result.summary
    assert row["value"] == pytest.approx(math.log(2**items) / math.log(20))
    if items == 6:
        assert (row["seen"], heading) == ("yes", "Sees every perturbation that was scored")
        return
    assert (row["seen"], summary["not_seen"]) == ("too few references", "")
    assert heading == "Too few references to say" and "does not see" not in said
    judges = {name: NamedJudge(ScriptedChat(counts_typos)) for name in "ab"}
    several = Discernment(only=["typos_major"], judges=judges, **QUICK).run(context)
    assert several.answer[0][0] == "Too few references to say" and len(several.answer) == 1


def test_a_perturbation_that_changes_nothing_says_nothing(tmp_path: Path) -> None:
    known = sorted(vocabulary())
    panel = panel_of(*(f"{' '.join(known[k : k + 40])}." for k in range(8)))
    study = Discernment(only=["typos_major", "reordering_major"], **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(counts_typos), panel=panel))
    found = rows(result, "discernment", "perturbation")
    assert found["reordering_major"]["seen"] == "nothing changed"
    assert found["reordering_major"]["value"] is None, "not 0"
    over = rows(result, "averages", "statistic")["average_ew"]
    assert over["value"] == found["typos_major"]["value"] > 1
    assert result.answer[0][1].endswith("because they changed no text: reordering_major.")
    assert drawn(result)
    idle = Discernment(only=["reordering_major"], **QUICK)
    nothing = idle.run(lab(tmp_path, ScriptedChat(counts_typos), panel=panel))
    assert nothing.answer[0][1].startswith("No text was changed, so nothing shows")
    for one in rows(nothing, "averages", "statistic").values():
        assert one["value"] is None and (one["n"], one["unscored"]) == (0, 0)
    assert drawn(nothing)


def test_texts_that_nobody_wrote_are_unscored_and_not_unchanged(tmp_path: Path) -> None:
    """A writer that refuses: its perturbation stays in the average, which is then unknown."""
    few = references().head(8)
    writer = ScriptedChat(lambda request: "4" if TEXT.search(request.messages[0].content) else None)
    study = Discernment(only=["entities_minor", "typos_minor"], by="lm", **QUICK)
    result = study.run(lab(tmp_path, writer, panel=few))
    found = rows(result, "discernment", "perturbation")["entities_minor"]
    assert (found["seen"], found["n"], found["unscored"]) == ("unscored", 0, 8)
    assert result.answer[0][1].endswith(" Unscored: entities_minor.")
    assert not any("changed no text" in note for note in result.notes)
    over = rows(result, "averages", "statistic")["average_ew"]
    assert over["value"] is None and over["threshold"] != over["threshold"]
    assert (over["perturbations"], over["n"], over["unscored"]) == (2, 0, 8)


def test_where_only_unchanged_texts_are_rated_nothing_is_known(tmp_path: Path) -> None:
    """The judge refuses the two changed texts, and rates the unchanged ones as their originals."""
    whole = [f"Only sentence {k}." for k in range(6)]
    texts = [*whole, "First one. Second one.", "Some sea. Some land."]
    panel = panel_of(*texts)

    def rule(request: ChatRequest) -> str | None:
        return "4" if rated_text(request) in texts else None

    study = Discernment(only=["reordering_major"], **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(rule), panel=panel))
    assert len(rows(result, "excluded", "item")) == 6
    assert rows(result, "excluded", "item")["i0"]["reason"] == "left as it was"
    found = rows(result, "discernment", "perturbation")["reordering_major"]
    assert (found["seen"], found["n"], found["unscored"]) == ("unscored", 0, 8), "and not D = 0"
    few = study.run(lab(tmp_path / "few", ScriptedChat(rule), panel=panel_of(*texts[4:7])))
    assert rows(few, "averages", "statistic")["average_ew"]["perturbations"] == 0, "too few texts"
    assert "by reordering_major (1 of 3 texts) to say what" in few.answer[0][1]
    assert result.summary["not_seen_count"] == 0


PEERS: list[Mechanism] = [Mi(), TvdMi(Prompt("tvd_mi.txt")), Judge(Prompt("judge.txt")), Bleu()]


@pytest.mark.parametrize("mechanism", PEERS, ids=lambda m: m.name)
def test_comparing_mechanisms_are_refused_unasked(tmp_path: Path, mechanism: Mechanism) -> None:
    """Perturbations as peers would pay a text for agreeing with damaged ones."""
    lm = replace(NOBODY, capabilities=frozenset(Capability))  # it fails on every question
    study = Discernment(only=["entities_minor"], by="lm", **QUICK)
    few = references().head(4)
    for go in (study.run, study.ask):
        with pytest.raises(ConfigError, match="against one another: choose rating"):
            go(lab(tmp_path, lm, mechanism, panel=few))


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave attack=none"):
        Discernment().run(lab(tmp_path, NOBODY, attack=Padding()))
    with pytest.raises(CapabilityError, match=r"lm@lms\.attack=NAME, or study\.by=rules"):
        mute = ScriptedChat(lambda r: "4", capabilities=frozenset())
        Discernment(only=["entities_minor"], by="lm").run(lab(tmp_path, mute))
    with pytest.raises(DataError, match="has none"):
        Discernment().run(lab(tmp_path, NOBODY, panel=Panel((Item("1", "s"),))))
