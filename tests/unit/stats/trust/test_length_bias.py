"""Length-controlled agreement: golden value, known truth, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.length_bias import length_bias
from tests.judgment_tables import ADVERSARIAL, llmbar


def test_a_real_judge_prefers_longer_texts() -> None:
    table = llmbar(ADVERSARIAL).of(["LLaMA2/Vanilla"])
    bias = length_bias(table.verdicts[0], table.truth, table.units.words, table.clusters)
    assert (bias.effect, bias.error) == pytest.approx((1.254, 0.173), abs=1e-3)
    assert (bias.agreement, bias.controlled) == pytest.approx((0.328, 0.478), abs=1e-3)


def drawn(units: int, length: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Verdicts with b1 = 1, truth and words; better texts are longer."""
    rng = np.random.default_rng(seed)
    h = rng.choice([-1.0, 1.0], units)
    x = 0.5 * h + rng.normal(size=units)
    words = np.column_stack([np.exp(4 + x) - 1, np.full(units, np.exp(4.0) - 1)])
    odds = h + length * x / x.std()
    verdicts = rng.random((units, 2)) < 1 / (1 + np.exp(-odds))[:, None]
    return verdicts.astype(float), (h + 1) / 2, words


@pytest.mark.parametrize("length", [0.0, 1.0])
def test_the_effect_is_that_of_length_alone_though_better_texts_are_longer(length: float) -> None:
    verdicts, truth, words = drawn(3000, length, 1)
    bias = length_bias(verdicts, truth, words, np.arange(3000))
    assert abs(bias.effect - length) < 4 * bias.error < 0.3
    assert bias.controlled == pytest.approx(1 / (1 + np.exp(-1.0)), abs=0.02)
    swapped = length_bias(1 - verdicts, 1 - truth, words[:, ::-1], np.arange(3000))
    assert swapped.effect == pytest.approx(bias.effect)


def test_refusals() -> None:
    verdicts, truth, words = drawn(200, 1.0, 1)
    clusters = np.arange(200)
    right = np.repeat(truth[:, None], 2, axis=1)
    longer = np.repeat((words[:, :1] > words[:, 1:]).astype(float), 2, axis=1)
    tied = np.where((truth == 1)[:, None], [[90.0, 30.0]], [[30.0, 90.0]])
    for data, why in (
        ((right, truth, words), "no finite effect"),
        ((longer, truth, words), "no finite effect"),
        ((verdicts, truth, np.full((200, 2), 9.0)), "same length"),
        ((verdicts, truth, np.tile([5.0, 8.0], (200, 1))), "same length"),
        ((verdicts, truth, tied), "told apart"),
        ((verdicts, truth * np.nan, words), "too few"),
        ((verdicts * np.nan, truth, words), "too few"),
    ):
        bias = length_bias(*data, clusters)
        assert why in bias.refused and np.isnan(bias.controlled)
