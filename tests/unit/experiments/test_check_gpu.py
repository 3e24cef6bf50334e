"""`make check-gpu` on a CPU, in a small shape: all of it but CUDA and vLLM."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from experiments import check_gpu
from experiments.check_gpu import JOBS, LIMIT, faults, off
from experiments.random_llama import SHAPES, save_model
from judgelab.evaluation_lm.transformers import Transformers


def here(command: list[str], **_: object) -> SimpleNamespace:
    """A worker in this process: the imports of one of its own take seconds."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as said:
        patch.setattr(sys, "argv", command[2:])
        code = check_gpu.main()
    return SimpleNamespace(stdout=said.getvalue(), stderr="", returncode=code)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("base")
    save_model(folder, SHAPES["tiny"])
    return str(folder)


def test_the_command_compares_and_writes_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.json"
    words = ["--shape", "tiny", "--sides", "rows", "tree", "vllm", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["check_gpu", *words])
    monkeypatch.setattr(check_gpu, "subprocess", SimpleNamespace(run=here))
    assert check_gpu.main() == 0
    found = json.loads(out.read_text())
    rows, tree = found["sides"]["rows"], found["sides"]["tree"]
    assert (rows["pairs"], tree["backend"], tree["against"]) == (16, "tree", "rows")
    assert 0 < tree["off_mean"] <= tree["off_most"] < LIMIT, "bf16 rounds, and no more"
    shown = capsys.readouterr().out
    assert "differences in nats per token" in shown and "mean off" in shown


def test_a_dropped_end_token_is_beyond_the_limit(base: str) -> None:
    contexts, targets, pairs = JOBS["tiny"].texts()
    tables = [
        Transformers(base, template="chat", end_token=ends).logprob(contexts, targets, pairs)
        for ends in (True, False)
    ]
    apart: dict[str, Any] = off(tables[1].total / tables[0].tokens, tables[0].per_token)
    assert apart["off_mean"] > 5 * LIMIT
    sides = {"rows": {}, "tree": apart, "vllm": {"failed": "no memory"}}
    assert [said.split()[0] for said in faults(sides)] == ["vllm", "tree"]
    assert not np.isnan(apart["off_bias"])
