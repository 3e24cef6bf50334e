"""A real model behind a real OpenAI-compatible server: ``transformers serve`` on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgelab.core.errors import CapabilityError, DataError
from tests.check_faults.trial import FAST, write_panel
from tests.e2e.conftest import environment, inside

for package in ("torch", "transformers", "fastapi", "uvicorn", "accelerate"):
    pytest.importorskip(package, reason="needs the extra local and transformers[serving]")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """An untrained Llama: the overrides that ask it, once it answers."""
    from experiments.random_llama import SHAPES, save_model

    model, folder = (tmp_path_factory.mktemp(name) for name in ("model", "server"))
    save_model(model, SHAPES["tiny"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(folder), stdout=log, stderr=log)
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                time.sleep(0.5)
        url = f"evaluation_lm.base_url=http://127.0.0.1:{port}/v1"
        yield ["evaluation_lm=vllm_server", f"evaluation_lm.model={model}", url]
    finally:
        process.kill()
        process.wait()


def overrides(folder: Path) -> list[str]:
    panel = write_panel(folder, 2, 3)
    return ["dataset=jsonl", f"dataset.path={panel}", "evaluation_lm.limits.concurrency=2", *FAST]


@pytest.mark.parametrize(("mechanism", "calls"), [("judge", 12), ("tvd_mi", 24)])
def test_every_call_is_answered_counted_and_scored_or_not(
    server: list[str], tmp_path: Path, mechanism: str, calls: int
) -> None:
    """An untrained model keeps to no format: unscored, each one, and never 0."""
    job = [*server, *overrides(tmp_path), "evaluation_lm.logprobs=none"]
    with pytest.raises(DataError, match=f"none of 6 texts: {calls} of {calls} calls failed"):
        inside(tmp_path, [*job, f"mechanism={mechanism}", "mechanism.max_tokens=8"])
    (folder,) = (tmp_path / "runs").iterdir()
    lines = (folder / "calls.jsonl").read_text().splitlines()
    sent = [json.loads(line) for line in lines if "output_tokens" in line]
    assert len(sent) == calls and not (folder / "DONE").exists()
    assert calls <= sum(one["output_tokens"] for one in sent) <= 8 * calls
    assert sum(one["input_tokens"] for one in sent) > 100 * calls


def test_silently_ignored_log_probabilities_are_refused(server: list[str], tmp_path: Path) -> None:
    """By either field: tests/unit/evaluation_lm/test_openai.py."""
    job = [*server, *overrides(tmp_path)]
    with pytest.raises(CapabilityError, match="no usable log-probabilities"):
        inside(tmp_path, [*job, "mechanism=mi", "evaluation_lm.logprobs=prompt"])
    assert not list((tmp_path / "runs").glob("*/DONE"))
