"""The figures that the benchmark of scoring divides by."""

from __future__ import annotations

import pytest

from experiments.bench.jobs import JOBS, Job, Shape, law, useful_flops
from experiments.bench.scoring import RANDOM
from judgelab.scoring.prefix_tree import make_plan


def test_law_is_the_ratio_of_tokens() -> None:
    assert law(JOBS["long"]) == pytest.approx(32 * (1024 + 64) / (1024 + 32 * 64))
    assert law(JOBS["paper"]) == pytest.approx(21.67, abs=0.01)
    assert law(JOBS["gem"]) == pytest.approx((30 * 400 + 870 * 500) / (300 + 3_000 + 900 * 100))


@pytest.mark.parametrize("shape", [RANDOM, Shape(49_152, 576, 1536, 30, 192)])
@pytest.mark.parametrize("job", [*JOBS.values(), Job(5, 4, 2, 4, 3, 1, 1, 1.0)])
def test_useful_work_is_what_the_plan_runs(job: Job, shape: Shape) -> None:
    """Counted token by token on the plan of the job's own tokens."""
    contexts, targets, pairs = job.texts([f"w{i}" for i in range(5000)])
    ids = [[tuple(map(hash, text.split())) for text in side] for side in (contexts, targets)]
    plan = make_plan([(ids[0][c], ids[1][t]) for c, t in pairs], 1 << 30)
    spans = [(node.start, node.end) for node in plan.nodes]
    ends = [plan.nodes[leaf.node].end for leaf in plan.leaves]
    spans += [(e, e + len(x.inputs)) for e, x in zip(ends, plan.leaves, strict=True)]
    inside = shape.hidden * (shape.hidden + 2 * shape.keys + shape.hidden)
    linear = shape.layers * (inside + 3 * shape.hidden * shape.inner)
    body = sum(
        2 * linear + 2 * 2 * shape.layers * shape.hidden * (place + 1)
        for start, stop in spans
        for place in range(start, stop)
    )
    rows = len({leaf.node for leaf in plan.leaves}) + sum(len(x.inputs) for x in plan.leaves)
    head = 2 * rows * shape.hidden * shape.vocabulary
    assert useful_flops(job, shape) == pytest.approx(body + head)
