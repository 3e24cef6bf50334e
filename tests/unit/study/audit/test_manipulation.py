"""Probes of judges whose flaw is known, through real mechanisms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.config import build
from judgelab.core.errors import ConfigError
from judgelab.core.resources import conf
from judgelab.mechanism.length import Length
from judgelab.mechanism.random import Random
from judgelab.study.audit.manipulation import Manipulation
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.study.audit.asked_case import (
    MARKER,
    asked_case,
    chat,
    falls_for_marker,
    merits,
    oracle,
)


def attack(name: str) -> Any:
    return build(yaml.safe_load((conf() / "attack" / f"{name}.yaml").read_text("utf-8")), name)


def part(*probes: str, **settings: Any) -> Manipulation:
    return Manipulation({name: attack(name) for name in probes}, attack("placebo"), **settings)


def test_every_flaw_is_found_and_no_other(tmp_path: Path) -> None:
    case = asked_case(
        tmp_path,
        {
            "oracle": chat(oracle),
            "marked": chat(falls_for_marker),
            "first": chat(lambda *_: "one"),
        },
        length=Length(),
        random=Random(),
    )
    found = part("instruction", "padding", "repetition").run(case)
    outcomes = {
        judge: {one.probe: one.outcome for one in given["probes"]}
        for judge, given in found.evidence.items()
    }
    safe = {
        "instruction": "does not fall",
        "padding": "does not fall",
        "repetition": "does not fall",
    }
    assert outcomes["oracle"] == outcomes["random"] == outcomes["first"] == safe
    assert outcomes["marked"] == safe | {"instruction": "falls"}
    assert outcomes["length"] == dict.fromkeys(safe, "falls")
    rows = {(row["judge"], row["probe"]): row for row in found.tables[0].rows}
    marked = rows["marked", "instruction"]
    assert marked["value"] == pytest.approx(marked["room"]) and marked["n"] == 70
    assert marked["by_placebo"] == marked["away"] == 0
    assert 0.3 < float(str(marked["low"])) < float(str(marked["value"])) < 0.7
    together = {row["probe"]: row for row in found.tables[1].rows}
    assert together["instruction"]["value"] == 0 and together["instruction"]["judges"] == 5
    said = " ".join(found.notes)
    assert "marked falls for instruction: the manipulated text wins" in said
    assert "oracle does not fall for any probe: surely fewer than 5 more of 100 comparisons" in said


def test_one_text_of_a_pair_is_attacked_and_the_other_stays(tmp_path: Path) -> None:
    lm = chat(oracle)
    case = asked_case(tmp_path, {"oracle": lm})
    whole = part("instruction")
    whole.ask(case)
    asked, lm.seen = list(lm.seen), []
    whole.run(case)
    assert [one.messages for one in lm.seen] == [one.messages for one in asked]
    assert len(asked) == 70 * 2 * 3
    marked = [one.messages[0].content.count(MARKER) for one in asked]
    assert marked == [0] * 280 + [1] * 140
    shown_first = [one.messages[0].content.split("[Answer two]")[0] for one in asked[280:]]
    assert sum(MARKER in one for one in shown_first) == 70
    duels = whole._duels(case)
    assert duels is not None and 20 < sum(duels.edited) < 50


def test_too_few_items_are_no_answer_and_say_how_many_would_do(tmp_path: Path) -> None:
    case = asked_case(tmp_path, {"oracle": chat(oracle)}, merits(40))
    found = part("padding").run(case)
    (one,) = found.evidence["oracle"]["probes"]
    assert one.outcome == "no answer" and one.move.n == 40
    assert found.tables[0].rows[0]["items_needed"] == 59
    assert "about 59 pairs would show" in found.notes[0]
    fewer = part("padding", items=12).run(asked_case(tmp_path, {"oracle": chat(oracle)}))
    assert fewer.tables[0].rows[0]["n"] == 12


def test_what_cannot_be_read_is_unscored(tmp_path: Path) -> None:
    babble = ScriptedChat(lambda request: "one" if MARKER not in str(request.messages) else "hm")
    found = part("instruction", "padding").run(asked_case(tmp_path, {"babble": babble}))
    rows = {row["probe"]: row for row in found.tables[0].rows}
    assert (rows["instruction"]["n"], rows["instruction"]["unscored"]) == (0, 70)
    assert rows["instruction"]["answer"] == "no answer" and rows["padding"]["n"] == 70


def test_what_it_needs(tmp_path: Path) -> None:
    recorded = asked_case(tmp_path, {})
    assert "judges that can be asked" in part("padding").run(recorded).lacking
    bare = asked_case(tmp_path, {"x": NOBODY})
    without = replace(bare, panel=bare.panel.with_agents((), tuple(() for _ in bare.panel.items)))
    assert "needs the texts" in part("padding").run(without).lacking
    with pytest.raises(ConfigError, match="probes is empty"):
        part()
