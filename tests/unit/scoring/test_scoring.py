"""kv and tree against the oracle, on real architectures; the plan and the head by themselves."""

from __future__ import annotations

import itertools
import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from judgelab.scoring.engine import Engine, score_kv, score_rows
from judgelab.scoring.head import Head
from judgelab.scoring.prefix_tree import Job, make_plan
from judgelab.scoring.tree import score_tree
from tests.tiny_models import model

SAME = 1e-3  # nats per target
FAST = ("llama", "llama_gqa", "qwen2", "gpt2")


def jobs_of(seed: int) -> list[Job]:
    """A template, contexts that share it to different depths, targets of 1 to 90 tokens."""
    rng = random.Random(seed)

    def ids(n: int) -> tuple[int, ...]:
        return tuple(rng.randrange(2, 2000) for _ in range(n))

    start = ids(20)
    item = start + ids(30)
    contexts = [start, ids(1), *(start + ids(rng.randrange(1, 30)) for _ in range(2))]
    contexts += [item + ids(rng.randrange(1, 40)) for _ in range(2)]
    targets = [ids(1), ids(2), ids(64), ids(90), *(ids(rng.randrange(1, 20)) for _ in range(3))]
    return [(x, y) for x in contexts for y in targets]


def oracle(lm: Any, jobs: list[Job]) -> NDArray[np.float64]:
    """[jobs] sums of one sequence at a time."""
    tokens = score_rows(lm, jobs)
    starts = np.cumsum([0, *(len(target) for _, target in jobs)])
    return np.array([tokens[a:b].sum() for a, b in itertools.pairwise(starts)])


def head_of(lm: Any, rows: int = 16, columns: int = 300) -> Head:
    embedding = lm.get_output_embeddings()
    return Head(embedding.weight, embedding.bias, rows, columns)


@pytest.mark.parametrize("kind", FAST)
def test_kv_and_tree_equal_rows_at_any_budget(kind: str) -> None:
    lm, jobs = model(kind), jobs_of(1)
    expected = oracle(lm, jobs)
    assert np.ptp(expected) > 100, "targets must differ for the comparison to mean anything"
    for budget in (1, 16, 100, 1000, 100_000):
        plan = make_plan(jobs, budget)
        head = head_of(lm)
        found = {"tree": score_tree(lm, head, plan), "kv": score_kv(lm, head, plan, budget)}
        for way, tokens in found.items():
            assert np.abs(plan.totals(tokens) - expected).max() < SAME, (way, budget)


@pytest.mark.parametrize("kind", FAST)
def test_order_of_the_batch_changes_no_byte(kind: str) -> None:
    lm, jobs = model(kind), jobs_of(2)
    shuffled = list(range(len(jobs)))
    random.Random(0).shuffle(shuffled)
    for backend in ("tree", "kv"):
        engine = Engine(lm, backend, budget=200)
        first = engine.score(jobs)
        second = engine.score([jobs[i] for i in shuffled] * 2)
        assert (second[: len(jobs)] == first[shuffled]).all()
        assert engine.drift is not None and engine.drift.largest < SAME


@pytest.mark.parametrize(
    ("kind", "backend", "reason"),
    [
        ("sliding", "kv", "sliding"),
        ("softcap", "rows", "linear head"),
        ("dynamic", "rows", "dynamic"),
    ],
)
def test_models_that_do_not_allow_it_are_scored_otherwise_and_say_why(
    kind: str, backend: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    lm, jobs = model(kind), jobs_of(3)[:14]
    engine = Engine(lm, "tree", budget=64)
    assert engine.backend == backend
    assert engine.reason is not None and reason in engine.reason
    assert reason in caplog.text
    assert np.abs(engine.score(jobs) - oracle(lm, jobs)).max() < SAME


def test_attention_that_is_not_plain_is_found_while_running() -> None:
    """Soft caps inside the attention are not in every configuration: the attention refuses them."""
    lm = model("llama")
    engine = Engine(lm, "auto", budget=64)
    layer = lm.model.layers[0].self_attn
    own = layer.forward
    layer.forward = lambda *args, **kwargs: own(*args, softcap=30.0, **kwargs)
    with suppress(TypeError, ValueError):  # sdpa refuses a soft cap as well
        engine._run(make_plan(jobs_of(4)[:3], 64))
    del layer.forward
    assert engine.backend == "kv" and engine.reason == "its attention uses softcap"
    assert lm.config._attn_implementation == "sdpa", "the model gets its own attention back"


def test_plan_encodes_every_shared_stretch_once() -> None:
    start, jobs = tuple(range(50)), []
    agents = [tuple(range(100 + 10 * k, 110 + 10 * k)) for k in range(30)]
    for x in [(), *agents]:
        jobs += [(start + x, y) for y in agents if y != x]
    plan = make_plan(jobs, 256)
    assert len(plan.leaves) == 30 * 30
    assert sum(len(node.tokens) for node in plan.nodes) == 50 + 30 * 10, "M agents, M encodings"
    sizes = [
        sum(len(plan.nodes[n].tokens) for n in b.nodes)
        + sum(len(plan.leaves[i].inputs) for i in b.leaves)
        for b in plan.bins
    ]
    assert max(sizes) <= 256 and sum(sizes) == 350 + 900 * 9


@settings(max_examples=60, deadline=None)
@given(
    jobs=st.lists(
        st.tuples(
            st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple),
            st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple),
        ),
        min_size=1,
        max_size=12,
    ),
    budget=st.integers(1, 20),
)
def test_plan_holds_every_job_once_and_parents_first(jobs: list[Job], budget: int) -> None:
    plan = make_plan(jobs, budget)
    assert len(plan.leaves) == len(set(jobs))
    for job, leaf in zip(jobs, plan.leaf_of, strict=True):
        assert plan.job(leaf) == job
    done: set[int] = set()
    for bin_ in plan.bins:
        for n in bin_.nodes:
            assert plan.nodes[n].parent in done | {-1}
            done.add(n)
        assert {plan.leaves[i].node for i in bin_.leaves} <= done
    assert done == set(range(len(plan.nodes)))
    held = [i for bin_ in plan.bins for i in bin_.leaves]
    assert sorted(held) == [i for i, leaf in enumerate(plan.leaves) if leaf.inputs]
    assert make_plan(jobs[::-1], budget).bins == plan.bins


def test_head_sums_blocks_like_one_softmax() -> None:
    torch.manual_seed(1)
    weight, bias, hidden = torch.randn(1000, 16) * 20, torch.randn(1000), torch.randn(37, 16)
    rows = torch.arange(0, 37, 2).repeat(2)
    tokens = torch.randint(1000, (len(rows),))
    logits = hidden[rows].double() @ weight.double().T + bias
    expected = logits.log_softmax(-1)[torch.arange(len(rows)), tokens]
    assert logits.max() > 100, "exponentials would overflow without the running maximum"
    for block in ((5, 64), (512, 4096), (1, 1)):
        found = Head(weight, bias, *block).logprobs(hidden, rows, tokens)
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_no_probability_of_a_model_in_halves_exceeds_one(kind: Any) -> None:
    torch.manual_seed(2)
    weight, hidden, bias = (torch.randn(*n).to(kind) for n in ((500, 64), (40, 64), (500,)))
    hidden *= 3  # so that some tokens are as good as certain
    logits = hidden.double() @ weight.double().T + bias.double()
    tokens, rows = logits.argmax(-1), torch.arange(40)
    found = Head(weight, bias, 16, 128).logprobs(hidden, rows, tokens)
    expected = logits.log_softmax(-1)[rows, tokens]
    assert (expected > -1e-3).any(), "rounding shows where the rest is next to nothing"
    assert found.dtype == torch.float32 and found.max() <= 1e-4
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("masked", [-torch.inf, torch.finfo(torch.float32).min, -65504.0])
def test_masked_tokens_take_nothing_from_the_others(masked: float) -> None:
    torch.manual_seed(3)
    weight, hidden, bias = torch.randn(300, 32), torch.randn(8, 32), torch.zeros(300)
    bias[[0, 128, *range(256, 300)]] = masked  # first of a block of columns, and a whole block
    expected = (hidden @ weight.T + bias).double().log_softmax(-1)[:, 7]
    found = Head(weight, bias, 4, 128).logprobs(hidden, torch.arange(8), torch.full((8,), 7))
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)
