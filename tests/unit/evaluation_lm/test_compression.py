"""The compressor is a language model: its figures follow from sizes, and it reads the context."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.core.errors import ConfigError
from judgelab.evaluation_lm.compression import NATS_PER_BYTE, Compression, sizes

NEWS = "The council of Lund voted on Tuesday to close the harbour bridge until September. "


def test_log_probability_is_the_difference_of_compressed_sizes() -> None:
    lm = Compression(workers=1)
    table = lm.logprob([NEWS], ["The bridge closes."], [(0, 0)])
    alone, joint = sizes([NEWS.encode(), (NEWS + "The bridge closes.").encode()], 6, 1 << 24)
    assert table.total[0] == -(joint - alone) * NATS_PER_BYTE
    assert table.tokens[0] == len("The bridge closes.")
    assert table.per_token[0] == table.total[0] / len("The bridge closes.")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4), st.text(max_size=60))
def test_any_text_is_scored_and_order_does_not_matter(targets: list[str], context: str) -> None:
    lm = Compression(workers=1)
    pairs = [(c, t) for c in range(2) for t in range(len(targets))]
    table = lm.logprob(["", context], targets, pairs)
    back = lm.logprob(["", context], targets, pairs[::-1])
    assert np.isfinite(table.total).all()
    np.testing.assert_array_equal(table.total, back.total[::-1])
    np.testing.assert_array_equal(table.tokens, [len(targets[t].encode()) for _, t in pairs])
    np.testing.assert_array_equal(np.isnan(table.per_token), table.tokens == 0)


def test_processes_and_one_process_agree() -> None:
    targets = [NEWS[k % 40 :] for k in range(60)]
    contexts = [NEWS * (k + 1) for k in range(10)]
    pairs = [(c, t) for c in range(10) for t in range(60)]
    many, one = Compression(workers=2), Compression(workers=1)
    tables = [lm.logprob(contexts, targets, pairs).total for lm in (many, one)]
    many.close()
    np.testing.assert_array_equal(*tables)


@pytest.mark.parametrize(("workers", "batch"), [(1, 100), (2, 2000)])
def test_memory_does_not_grow_with_calls(workers: int, batch: int) -> None:
    """pyppmd leaks 19 kB and the text a call: 8,000 calls were 170 MB."""
    lm, targets = Compression(workers=workers), [f"{NEWS}{k}" for k in range(batch)]
    lm.logprob([NEWS], targets, [(0, t) for t in range(batch)])
    before = resident()
    for _ in range(8000 // batch):
        lm.logprob([NEWS], targets, [(0, t) for t in range(batch)])
    grown = resident() - before
    lm.close()
    assert grown < 50e6


def resident() -> int:
    """Bytes that this process and those it has started hold in memory."""
    own = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    pages = [Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in ["self", *own]]
    return sum(map(int, pages)) * os.sysconf("SC_PAGESIZE")


def test_a_process_that_dies_is_one_sentence_and_the_next_call_starts_another() -> None:
    lm = Compression(workers=2)
    targets = [f"{NEWS}{k}" for k in range(1000)]
    pairs = [(0, t) for t in range(1000)]
    whole = lm.logprob([NEWS], targets, pairs)
    for worker in lm._pool._running:
        os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(ConfigError, match="evaluation_lm.workers"):
        lm.logprob([NEWS], targets, pairs)
    again = lm.logprob([NEWS], targets, pairs)
    lm.close()
    np.testing.assert_array_equal(again.total, whole.total)


def test_processes_end_with_the_one_that_started_them() -> None:
    """Also when that one is killed: their input ends."""
    script = (
        "from judgelab.evaluation_lm.compression import Compression\n"
        "lm = Compression(workers=2)\n"
        "lm.logprob([''], ['text'] * 1000, [(0, t) for t in range(1000)])\n"
        "print(*[w.pid for w in lm._pool._running], flush=True)\n"
        "input()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1, text=True) as run:
        assert run.stdout is not None
        pids = run.stdout.readline().split()
        run.kill()
    assert len(pids) == 2
    until = time.monotonic() + 10
    while any(alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in pids)


def alive(pid: str) -> bool:
    """Whether there is such a process that is not a zombie."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
