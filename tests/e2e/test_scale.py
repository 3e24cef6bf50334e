"""Whoever answers, and wherever: the same bytes, and every question asked once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError
from judgelab.engine.run import carry_out
from tests.e2e.conftest import cached_calls, started

PAIRS = ("mechanism=tvd_mi", "mechanism.critic=likelihood", "attack=padding", "limit=4")
STAGES = ("agents=prompted", "mechanism=judge", "limit=2", "dataset=samsum")
FAST = ("study.bootstrap=100",)


@dataclass(frozen=True)
class Outcome:
    """What a run left."""

    result: bytes
    calls: dict[str, int]
    cache: set[tuple[Any, ...]]


def run(root: Path, *overrides: str, lm: dict[str, Any] | None = None) -> Outcome:
    """One run in this process; ``lm`` takes the place of evaluation_lm's config."""
    fixed = (f"paths.root={root}", "tracker=none", *FAST)
    cfg = composed([*fixed, *overrides])
    if lm is not None:
        OmegaConf.set_struct(cfg, False)
        cfg.evaluation_lm = {"_target_": "tests.noted_lm.Noted", "log": f"{root}/log", **lm}
        root.mkdir(parents=True, exist_ok=True)
    carry_out(cfg)
    (folder,) = (done.parent for done in root.glob("runs/*/DONE"))
    with sqlite3.connect(root / "cache" / "calls.sqlite") as db:
        rows = {*db.execute("SELECT * FROM answer")}
    db.close()
    calls = json.loads((folder / "manifest.json").read_text())["calls"]
    return Outcome((folder / "result.json").read_bytes(), calls, rows)


def noted(root: Path) -> tuple[list[dict[str, Any]], Counter[tuple[str, ...]]]:
    """What workers wrote down, and how often each question was asked."""
    entries = [json.loads(line) for line in (root / "log").read_text().splitlines()]
    return entries, Counter(tuple(question) for entry in entries for question in entry["asked"])


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster of two nodes with one CPU each."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 0})
    nodes.add_node(num_cpus=1, num_gpus=0)
    nodes.wait_for_nodes()
    yield nodes.address
    nodes.shutdown()


Alone = tuple[tuple[str, ...], Outcome, Counter[tuple[str, ...]]]


@pytest.fixture(scope="module", params=[PAIRS, STAGES], ids=["pairs", "stages"])
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """A job, its outcome in one process, and the questions it asked."""
    root = tmp_path_factory.mktemp("alone")
    outcome = run(root, *request.param, lm={})
    return request.param, outcome, Counter(set(noted(root)[1]))


def check(root: Path, alone: Alone, *scale: str, **lm: str) -> list[dict[str, Any]]:
    job, expected, questions = alone
    found = run(root, *job, *scale, lm=lm)
    assert (found.result, found.cache) == (expected.result, expected.cache)
    entries, asked = noted(root)
    assert asked == questions, "each question once, those without an answer too"
    assert found.calls == expected.calls | {"computed": len(questions)}
    assert {entry["threads"] for entry in entries} == {"1"}
    assert os.getpid() not in {entry["pid"] for entry in entries}
    return entries


def test_a_cluster_of_two_nodes_gives_the_bytes_of_one_process(
    alone: Alone, tmp_path: Path, cluster: str
) -> None:
    fatal = tmp_path / "fatal"  # the first worker that is asked dies, and is replaced
    fatal.touch()
    ray = ("scale=ray", f"scale.address={cluster}")
    entries = check(tmp_path, alone, *ray, fatal=str(fatal))
    assert not fatal.exists()
    assert len({entry["node"] for entry in entries}) == 2


def test_a_worker_that_would_answer_as_another_lm_is_refused(tmp_path: Path, cluster: str) -> None:
    ray = ("scale=ray", f"scale.address={cluster}", "mechanism=mi", "limit=3")
    with pytest.raises(ConfigError, match="has room for 0 workers"):
        run(tmp_path, *ray, "scale.workers=1", "scale.gpus=1.0", lm={})
    with pytest.raises(ConfigError, match="would answer as 'lm of [0-9]+'") as caught:
        run(tmp_path, *ray, lm={"name": "lm of {pid}"})
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "log").exists()


def test_an_endpoint_is_not_spread(tmp_path: Path) -> None:
    endpoint = ("evaluation_lm=openai", "evaluation_lm.model=m", "mechanism=judge")
    address = "evaluation_lm.base_url=http://127.0.0.1:9/v1"
    with pytest.raises(ConfigError, match="use scale=local"):
        run(tmp_path, *endpoint, address, "scale=ray")


def test_kill_minus_nine_keeps_what_workers_answered(tmp_path: Path, cluster: str) -> None:
    job = ("mechanism=mi", "dataset=xsum", "tracker=none", "limit=4")
    whole = run(tmp_path / "whole", *job)
    job += ("scale=ray", f"scale.address={cluster}")
    broken = tmp_path / "broken"
    victim = started(broken, [*job, *FAST])
    limit = time.monotonic() + 60
    while not (saved := cached_calls(broken)) and time.monotonic() < limit:
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)  # the run alone: nobody tells its workers
    victim.wait()
    saved = cached_calls(broken)
    assert 0 < saved < len(whole.cache)
    resumed = run(broken, *job)
    assert resumed.result == whole.result
    assert resumed.calls["computed"] == len(whole.cache) - saved
