"""study=discernment from the command line, on a machine without network, key or GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command


@pytest.mark.slow
def test_the_command_of_the_dhp_paper_runs_on_the_sample(judgelab: Command, tmp_path: Path) -> None:
    done = judgelab(
        *("study=discernment", "dataset=summeval", "evaluation_lm=compression", "tracker=none"),
        *("study.only=[typos_major,reordering_minor,entities_minor]", "study.replicates=200"),
        "study.bootstrap=50",
    )
    assert done.returncode == 0, done.stderr
    assert "This judge (rating_likelihood) does not see: reordering_minor." in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert result["summary"]["items"] == 12
    assert result["summary"]["d_ew/typos_major"] > 2
    assert {p.name for p in (run / "figures").glob("*.svg")} == {
        "discernment_radar.svg",
        "discernment_bars.svg",
        "response_styles.svg",
    }
    assert result["provenance"]["clean"]["perturbed"]["entities_minor"]["attack_written_by"]
