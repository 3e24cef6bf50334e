"""What a GPU machine runs for the paper's fine-tuning, end to end on a CPU: all but CUDA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("bitsandbytes", reason="needs the extra local")

from experiments.gem import finetune_gpu  # noqa: E402
from tests.e2e.conftest import environment  # noqa: E402

pytestmark = pytest.mark.slow


def test_the_check_trains_a_base_in_4_bits_by_the_papers_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (environment(tmp_path) | {"OMP_NUM_THREADS": "1"}).items():
        monkeypatch.setenv(name, value)
    given = ["limit=4", "study.settings.log_every=2", "study.settings.save_every=6"]
    given += ["study.settings.learning_rate=5e-3", "study.settings.max_seq_length=400"]
    told = ["--shape", "tiny", "--backends", "peft", "--steps", "6", "--set", *given]
    assert finetune_gpu.main([*told, "--out", str(tmp_path / "found.json")]) == 0
    found = json.loads((tmp_path / "found.json").read_text())
    one = found["backends"]["peft"]
    assert one["falls"] and one["steps"] == 6 and one["tokens_per_second"] > 0
    assert one["peak_memory_gib"] > 0.1
    assert found["settings"]["quantization"] == "none", "as stored"


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    assert finetune_gpu.main([]) == 1
    assert "needs a CUDA GPU" in capsys.readouterr().err
