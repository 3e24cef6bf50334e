"""What a faster way may be off, and the faults that must never pass for rounding."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from judgelab.scoring import engine, tree
from judgelab.scoring.engine import LARGEST, TYPICAL, DriftError, Engine, drift
from judgelab.scoring.prefix_tree import Job, ScoringPlan, make_plan
from tests.real_lm import SMOLLM2, needs_smollm2, oracle_that_remembers
from tests.tiny_models import model

TEMPLATE = "Two people on a film. The first:\n"
TEXTS = ("A pianist comes home to teach.", "A bank robbery in Lisbon.")


def texts_as_jobs(tokenizer: Any) -> list[Job]:
    contexts = [TEMPLATE, *(f"{TEMPLATE}{text}\nThe second:\n" for text in TEXTS)]
    before, after = (
        [tuple(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
        for texts in (contexts, list(TEXTS))
    )
    return [(x, (*y, tokenizer.eos_token_id)) for x in before for y in after]


def random_jobs() -> list[Job]:
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[int, ...]:
        return tuple(int(i) for i in rng.integers(2, 2000, n))

    start = draw(12)
    contexts = [start, *(start + draw(15) for _ in range(3))]
    targets = [draw(n) for n in (3, 20, 20)]
    return [(x, y) for x in contexts for y in targets]


def hides_a_response(layout: Any, *rest: Any) -> Any:
    """Targets see what stands before the last stretch of their context, not the stretch itself."""
    made = SOUND_PASS(layout, *rest)
    parents = {node.node: node.parent for node in made.nodes}
    above = [(span, parents[node], node) for span, node in made.shared]
    made.shared = [(span, parent if parent >= 0 else node) for span, parent, node in above]
    return made


def moves_targets_on(plan: ScoringPlan, bin_: Any) -> Any:
    """Every target begins one position too late."""
    return [
        replace(s, position=s.position + 1) if s.leaf >= 0 else s for s in SOUND_LAYOUT(plan, bin_)
    ]


def forgets_last_tokens(plan: ScoringPlan, *rest: Any) -> Any:
    """The last token of every target is not asked for, as if the end of the text did not count."""
    last = {place - 1 for place in plan.places[1:]}
    return [reading for reading in SOUND_READINGS(plan, *rest) if reading[2] not in last]


SOUND_PASS, SOUND_LAYOUT, SOUND_READINGS = tree._pass, tree._layout, tree._readings
FAULTS: dict[str, Callable[..., Any]] = {
    "_pass": hides_a_response,
    "_layout": moves_targets_on,
    "_readings": forgets_last_tokens,
}


@pytest.fixture(scope="module")
def smollm2() -> dict[str, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    loaded = AutoModelForCausalLM.from_pretrained(SMOLLM2, dtype=torch.float32).eval()
    jobs = texts_as_jobs(AutoTokenizer.from_pretrained(SMOLLM2))
    long = [*jobs[:4], ((1,), jobs[0][0] + jobs[0][1])]
    return {
        # most CPUs emulate the latter, slowly
        "jobs": {"float32": long, "bfloat16": [(x, y[:6]) for x, y in jobs[:2]]},
        "float32": loaded,
        "bfloat16": copy.deepcopy(loaded).to(torch.bfloat16),
        "float64": copy.deepcopy(loaded).double(),
    }


@pytest.fixture(scope="module", autouse=True)
def _the_oracle_answers_once() -> Iterator[None]:
    with oracle_that_remembers():
        yield


def caught(lm: Any, jobs: list[Job], fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named back end ends in an error, ``auto`` in the next way, which is right."""
    monkeypatch.setattr(tree, fault, FAULTS[fault])
    with pytest.raises(DriftError, match=r"backend=tree differs .* nats per token") as error:
        Engine(lm, "tree").score(jobs)
    assert "backend=auto" in str(error.value)
    auto = Engine(lm, "auto")
    found = auto.score(jobs)
    assert auto.backend == "kv"
    assert auto.reason is not None and "tree differs from one sequence" in auto.reason
    assert auto.drift is not None and auto.drift.small
    monkeypatch.undo()
    assert np.abs(found - Engine(lm, "kv").score(jobs)).max() == 0


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_planted_faults_are_caught(dtype: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = copy.deepcopy(model("llama_gqa")).to(getattr(torch, dtype))
    caught(lm, random_jobs(), fault, monkeypatch)


@needs_smollm2
def test_the_fault_nearest_to_rounding_is_caught_on_a_real_lm(
    monkeypatch: pytest.MonkeyPatch, smollm2: dict[str, Any]
) -> None:
    caught(smollm2["float32"], smollm2["jobs"]["float32"], "_layout", monkeypatch)


@needs_smollm2
@pytest.mark.parametrize(
    ("dtype", "backend", "most"),
    [("float32", "tree", 1e-5), ("float32", "kv", 1e-5), ("bfloat16", "tree", 0.1)],
)
def test_a_real_lm_is_scored_the_fast_way(
    dtype: str, backend: str, most: float, smollm2: dict[str, Any]
) -> None:
    """L5: the first pretrained LM was refused, by a tolerance on the sum over a whole text."""
    jobs = smollm2["jobs"][dtype]
    plan = make_plan(jobs, 1024)
    rows = [plan.job(leaf) for leaf in range(len(plan.leaves))]
    exact = plan.totals(engine.score_rows(smollm2["float64"], rows))
    fast = Engine(smollm2[dtype], backend)
    off = np.abs(fast.score(jobs) - exact) / [len(y) for _, y in jobs]
    assert fast.backend == backend and fast.drift is not None
    assert off.max() < most, "nats per token of float64"


@pytest.mark.parametrize("name", ["llama_gqa", "gpt2"])
def test_rounding_is_measured_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an H100 two batch shapes gave the same digits, and every fast way was refused."""
    monkeypatch.setattr(engine, "LEAST", dict.fromkeys(engine.LEAST, 0.0))
    sound = Engine(copy.deepcopy(model(name)).to(torch.bfloat16), "auto")
    sound.score(random_jobs())
    assert sound.backend == "tree" and sound.drift is not None and sound.drift.allowed > 0
    assert not any(one._forward_hooks for one in sound.model.modules()), "it is as it was"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_sums_are_rounded_again_up_and_down(dtype: torch.dtype) -> None:
    """In fp32 they all went down; in fp64, and of GPTQ's layers without a weight, none moved."""
    layer, packed = torch.nn.Linear(1, 4096, bias=False).to(dtype), torch.nn.Identity()
    packed.out_features = 4096
    lm = SimpleNamespace(base_model=torch.nn.ModuleList([layer, packed]))
    for one, states in ((layer, torch.ones(1, dtype=dtype)), (packed, layer.weight[:, 0])):
        once = one(states).abs()
        with engine.rounded_again(lm):
            again = one(states).abs()
        for moved in (again > once, again < once):
            assert 0.1 < moved.double().mean() < 0.2


def test_drift_is_judged_per_token_and_nan_never_passes() -> None:
    slow = np.zeros(1000)
    assert drift(slow + TYPICAL * 0.99e-5, slow, 1e-5, None).small
    assert not drift(slow + TYPICAL * 1.01e-5, slow, 1e-5, None).small
    one = slow.copy()
    one[7] = LARGEST * 1.01e-5  # hardly moves the root mean square of a thousand tokens
    assert not drift(one, slow, 1e-5, None).small
    one[7] = np.nan
    assert not drift(one, slow, 1e-5, None).small
    assert drift(slow + 0.4, slow, 1e-5, tolerance=0.5).small


def test_targets_of_several_tokens_are_checked_though_labels_came_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lm, jobs = model("llama_gqa"), random_jobs()
    monkeypatch.setattr(tree, "_layout", moves_targets_on)
    fast = Engine(lm, "tree")
    fast.score([(x, y[:1]) for x, y in jobs])  # no target is fed: nothing to be moved
    with pytest.raises(DriftError):
        fast.score(jobs)


def test_long_prompts_are_checked_on_a_few() -> None:
    """Of six labels behind prompts of 900 tokens all were scored twice more: half a minute."""
    fed: list[int] = []
    score = engine.score_rows

    def counted(lm: Any, jobs: list[Job], again: bool = False) -> Any:
        fed.append(len(jobs))
        return score(lm, jobs, again)

    lm = model("llama_gqa")
    long = [((*range(2, 62),), (k, 3)) for k in range(4, 10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "score_rows", counted)
        Engine(lm, "tree", budget=64).score(long)
        Engine(lm, "tree", budget=1024).score(long)
    assert fed == [2, 2, 6, 6], "and once more for the noise"
