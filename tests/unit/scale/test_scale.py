"""What is spread, and where there is room for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from judgelab.calls.batch import PairBatch
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.core.lm import EvaluationLM
from judgelab.engine.sweep import PARENT, become_parent, watch_parent
from judgelab.scale.ray import CHATS, open_batches, places
from tests.scripted import ScriptedChat, ScriptedLogProb, ask


def node(cpus: float, gpus: float, alive: bool = True) -> dict[str, object]:
    return {"Alive": alive, "Resources": {"CPU": cpus, "GPU": gpus, "memory": 1e9}}


@pytest.mark.parametrize(
    ("cpus", "gpus", "expected"),
    [(1, 0, 6), (2, 0, 2), (1, 1, 2), (0, 1, 2), (1, 0.5, 3), (0.5, 0.5, 4), (4, 0, 0), (1, 2, 1)],
)
def test_no_worker_is_split_over_two_nodes(cpus: float, gpus: float, expected: int) -> None:
    nodes = [node(3, 2), node(3, 0), node(8, 8, alive=False)]
    assert places(nodes, {"CPU": cpus, "GPU": gpus}) == expected


def test_pairs_are_collected_a_batch_at_a_time_and_once(tmp_path: Path) -> None:
    inner = ScriptedLogProb(lambda c, t: -float(len(c) + len(t)))
    lm = CachedLM(inner, CallCache(tmp_path / "c.sqlite"))
    lm.logprob(["a"], ["x"], [(0, 0)])

    def step(asked: EvaluationLM) -> None:
        asked.logprob(["a", "b"], ["x", "y"], [(0, 0), (1, 1), (1, 1), (0, 1)])
        asked.logprob(["b", "a"], ["y"], [(0, 0), (1, 0)])  # both known by now
        asked.logprob(["c"], ["y"], [(0, 0)])

    assert open_batches(step, lm) == [
        PairBatch(["a", "b"], ["x", "y"], ((1, 1), (0, 1))),
        PairBatch(["c"], ["y"], ((0, 0),)),
    ]
    assert inner.seen == [("a", "x")], "collecting asks nothing"
    step(lm)
    assert inner.seen[1:] == [("b", "y"), ("a", "y"), ("c", "y")], "as in one process"
    assert open_batches(step, lm) == []
    lm.close()


def test_chats_are_cut_small_and_what_depends_on_answers_comes_later(tmp_path: Path) -> None:
    lm = CachedLM(ScriptedChat(lambda r: "noted"), CallCache(tmp_path / "c.sqlite"))

    def step(asked: EvaluationLM) -> None:
        first = [ask(f"read {k}") for k in range(CHATS + 1)]
        notes = [reply.text for reply in asked.chat(first)]
        then = [ask(f"write from {n} {k}") for k, n in enumerate(notes)]
        asked.chat([request for request, note in zip(then, notes, strict=True) if note])

    asked = open_batches(step, lm)
    assert [len(shard.questions) for shard in asked] == [CHATS, 1]
    for shard in asked:
        lm.accept(dict(zip(shard.keys(lm.identity), shard.ask(lm.lm), strict=True)))
    later = [r.messages[0].content for s in open_batches(step, lm) for r in s.questions]
    assert later == [f"write from noted {k}" for k in range(CHATS + 1)]
    lm.close()


PROCESS = """
import sys, time
from omegaconf import OmegaConf
from judgelab.engine.sweep import become_parent
become_parent(OmegaConf.create(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""
JOB = """
import sys, time
from pathlib import Path
from judgelab.engine.sweep import watch_parent
seen = watch_parent(Path(sys.argv[1]))
busy = [1]
seen.busy = lambda: len(busy)
print(seen.gone(), flush=True)
while not seen.gone():
    time.sleep(0.01)
print("nothing more is sent", flush=True)
time.sleep(0.6)
print("but what is under way is waited for", flush=True)
busy.clear()
time.sleep(60)
"""


def config(folder: Path, launcher: str) -> DictConfig:
    hydra = {"sweep": {"dir": str(folder)}, "launcher": {"_target_": launcher}}
    return OmegaConf.create({"hydra": hydra})


def test_a_job_ends_with_its_parent_and_loses_nothing_that_is_paid(tmp_path: Path) -> None:
    given = OmegaConf.to_yaml(config(tmp_path, "x.JoblibLauncher"))
    command = [sys.executable, "-c", PROCESS, given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "held\n"
        command = [sys.executable, "-c", JOB, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
            assert job.stdout is not None and job.stdout.readline() == "False\n"
            parent.kill()
            assert job.wait(timeout=10) == 1
            said = job.stdout.read().splitlines()
    assert said == ["nothing more is sent", "but what is under way is waited for"]


def test_jobs_on_slurm_have_no_parent_here(tmp_path: Path) -> None:
    become_parent(config(tmp_path, "x.SlurmLauncher"))
    assert not (tmp_path / PARENT).exists()
    assert watch_parent(tmp_path) is None
