"""The end of a sweep over data sets: d against compression and effective rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from judgelab.attack.repetition import Repetition
from judgelab.attack.word_deletion import WordDeletion
from judgelab.core.prompt import Prompt
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.report.jobs import jobs
from judgelab.study.discrimination import Discrimination
from judgelab.study.discrimination.figures import fits, points
from tests.drawings import draw
from tests.scripted import ScriptedChat
from tests.unit.report.report_results import result, write_job, write_run
from tests.unit.study.discrimination.discrimination_context import better, context, graded

RATIOS = (1.0, 4.0, 9.0, 16.0, 20.0)
DS = (1.2, 3.9, 6.1, 4.2, 0.8)


def run_of(ratio: float | None, d: float) -> dict[str, Any]:
    """A result of study=discrimination on a data set of this compression."""
    found = result(3, ("clean",))
    around = {"": 0.0, "_low": -0.3, "_high": 0.3}
    summary = {f"clean/effect_size{part}": d + by for part, by in around.items()}
    summary |= {"clean/compression_reference": ratio, "clean/compression_response": 3.0}
    return {**found, "summary": {**found["summary"], **summary}}


def sweep_of(folder: Path, ratios: tuple[float | None, ...], attacks: int = 1) -> Path:
    place = 0
    for number, (ratio, d) in enumerate(zip(ratios, DS, strict=False)):
        for attack in range(attacks):
            write_run(folder / "runs" / str(place), run_of(ratio, d))
            choices = {"dataset": f"set_{number}", "attack": f"attack_{attack}"}
            done = {"status": "done", "run": str(folder / "runs" / str(place))}
            write_job(folder / "sweeps" / "s", place, choices, **done)
            place += 1
    return folder / "sweeps" / "s"


@pytest.mark.parametrize("attacks", [1, 2])
def test_five_data_sets_end_in_a_parabola_against_a_line(tmp_path: Path, attacks: int) -> None:
    [made] = fits(points(jobs(sweep_of(tmp_path, RATIOS, attacks))))
    [columns] = [table for title, table in made.tables.items() if title.startswith("Effect size")]
    row = {column.key: column.sort[0] for column in columns}
    assert row["n"] == 5  # one point for each data set, however many attacks there are
    assert row["r2_linear"] == pytest.approx(stats.linregress(RATIOS, DS).rvalue ** 2)
    assert row["r2_quadratic"] > 0.95
    assert row["p"] < 0.05
    assert 9 < row["peak"] < 12
    assert row["curvature"] < 0
    assert len(columns[0].sort) == 1  # the responses' ratio is the same everywhere: no fit
    assert len(made.rows) == 5
    drawn = draw("effect_sizes_by_compression", {"compression": made.rows})
    assert len(drawn.figure.axes) == 1  # no effective rank is known


STUDY = Discrimination(bootstrap=200)


def test_length_falls_to_repetition_by_the_problematic_alone(tmp_path: Path) -> None:
    """By everybody it changes no order, and so no AUC; by some it turns the order around."""
    everybody = STUDY.run(context(tmp_path / "a", Length(), attack=Repetition()))
    assert everybody.summary["change/auc"] == 0
    assert "cheating" not in everybody.summary
    assert "attack_on" not in everybody.summary
    alone = STUDY.run(context(tmp_path / "b", Length(), attack=Repetition(on="problematic")))
    found = alone.summary
    assert (found["clean/auc"], found["attacked/auc"], found["change/auc"]) == (1, 0, -1)
    assert found["change/others_score"] == 0
    assert found["change/attackers_score_low"] > 5  # type: ignore[operator]
    assert found["change/advantage"] == found["change/attackers_score"]
    assert (found["cheating"], found["attack_on"]) == ("pays", "a2, a3")
    said = dict(alone.answer)["Under repetition"]
    assert said.startswith("Under repetition by 2 agents of 4, cheating alone pays")
    assert "the AUC by -1" in said


def test_what_cheating_alone_brings(tmp_path: Path) -> None:
    """Nothing with a judge of quality; shortening oneself costs; two items have no interval."""
    judge, repeated = Judge(Prompt("judge_no_context.txt"), context=False), Repetition
    labs = {
        "neither gain nor loss shown": context(
            tmp_path / "a", judge, ScriptedChat(better), attack=repeated(on="problematic")
        ),
        "costs": context(tmp_path / "b", Length(), attack=WordDeletion(on=["a0", "a1"])),
        "undecided": context(tmp_path / "c", Length(), attack=repeated(on=["a3"]), panel=graded(2)),
    }
    made = {words: STUDY.run(lab).summary for words, lab in labs.items()}
    assert [one["cheating"] for one in made.values()] == list(labs)
    assert made["neither gain nor loss shown"]["change/advantage"] == 0
    # 7 and 8 words, said twice, and two between
    assert made["undecided"]["change/attackers_score"] == pytest.approx(9.5)
