"""A tracker's mirror is closed however a run ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from judgelab.engine import run
from judgelab.tracker.protocol import Careful

CONF = Path(__file__).parents[3] / "conf"


@pytest.mark.parametrize("place", ["console.show", "page.write"])
def test_a_fault_after_the_study_closes_the_mirror(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    closed = []

    class Noted(Careful):
        def close(self) -> None:
            closed.append(place)
            super().close()

    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    module, name = place.split(".")
    monkeypatch.setattr(run, "Careful", Noted)
    monkeypatch.setattr(getattr(run, module), name, full)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        settings = ["study=plan", "study.r=.3", "study.sd=.25", "study.delta=.05", "tracker=none"]
        config = compose("config", overrides=[*settings, f"paths.root={tmp_path}"])
    with pytest.raises(OSError, match="No space left"):
        run.execute(config)
    assert closed == [place]
