"""GEM against its formula: f(x, y) = log P(y | x, z) - log P(y | z)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.mechanism.gem import Gem
from judgelab.mechanism.logprob import ABSENT
from tests.scripted import ScriptedLogProb, panel_of

PROMPT = Prompt("second_opinion.txt")
TEXTS = [["alpha beta", "beta gamma delta", "alpha alpha"], ["uno", "dos dos", "uno dos tres"]]


def overlap(context: str, target: str) -> float:
    """Words that the context holds cost less."""
    return -sum(1.0 if word in context.split() else 3.0 for word in target.split())


def panel(roles: tuple[bool, ...] = (False, True, True)) -> Panel:
    made = panel_of(TEXTS)
    agents = tuple(replace(a, reference=r) for a, r in zip(made.agents, roles, strict=True))
    items = tuple(replace(i, synopsis=f"beta {i.id}") for i in made.items)
    return replace(made, agents=agents, items=items)


def measured(gem: Gem, lm: EvaluationLM, of: Panel | None = None) -> np.ndarray:
    found = gem.score(gem.measure(of or panel(), lm, seed=0)).directed
    assert found is not None
    return np.asarray(found.values)


def test_gem_is_the_pointwise_mutual_information_of_candidate_and_reference() -> None:
    lm = ScriptedLogProb(overlap)
    data = Gem(PROMPT).measure(panel(), lm, seed=0)
    assert len(lm.seen) == len(set(lm.seen)) == 2 * (2 + 2), "each question is asked once"
    assert not any("beta i0" in context for context, _ in lm.seen), "no synopsis is shown"
    scores, by_token = Gem(PROMPT).score(data), Gem(PROMPT, per="token").score(data)
    assert scores.directed is not None and by_token.directed is not None
    expected = np.full((2, 3, 3), np.nan)  # references are nobody's candidates
    # i0: x = alpha beta; y1 = beta gamma delta shares beta; y2 = alpha alpha shares both words
    expected[:, 0, 1:] = [[2, 4], [0, 2]]
    np.testing.assert_allclose(scores.directed.values, expected, atol=1e-12)
    expected[:, 0, 1:] /= [[3, 2], [2, 3]]  # tokens of the references
    np.testing.assert_allclose(by_token.directed.values, expected, atol=1e-12)
    np.testing.assert_allclose(scores.agent.values[:, 0], [3, 1])
    assert np.isnan(scores.agent.values[:, 1:]).all()
    assert scores.diagnostics["nats_per_token"] == pytest.approx((2 / 3 + 2 + 0 + 2 / 3) / 4)


def test_without_references_everybody_is_scored_against_everybody_else() -> None:
    f = measured(Gem(PROMPT), ScriptedLogProb(overlap), panel((False,) * 3))
    off = ~np.eye(3, dtype=bool)
    assert not np.isnan(f[:, off]).any()
    assert np.isnan(f[:, ~off]).all()


def test_gem_s_conditions_both_terms_on_the_synopsis() -> None:
    lm = ScriptedLogProb(overlap)
    f = measured(Gem(PROMPT, name="gem_s", synopsis=True), lm)
    assert f[0, 0, 1] == pytest.approx(0.0)  # beta is in the synopsis already
    assert f[0, 0, 2] == pytest.approx(4.0)
    assert all("beta i0" in c or "beta i1" in c for c, _ in lm.seen)
    marginals = [c for c, _ in lm.seen if c.rstrip().endswith(ABSENT)]
    assert len(marginals) == 4


def test_gem_s_leaves_items_without_a_synopsis_unscored() -> None:
    some = replace(panel(), items=(replace(panel().items[0], synopsis=None), panel().items[1]))
    f = measured(Gem(PROMPT, name="gem_s", synopsis=True), ScriptedLogProb(overlap), some)
    assert np.isnan(f[0]).all()
    assert not np.isnan(f[1, 0, 1:]).any()


def test_absent_texts_are_unscored_and_not_asked_about() -> None:
    texts = ((None, "beta", "alpha"), ("uno", None, "dos"))
    lm = ScriptedLogProb(overlap)
    f = measured(Gem(PROMPT), lm, replace(panel(), texts=texts))
    assert np.isnan(f[0]).all()
    assert np.isnan(f[1, 0, 1])
    assert f[1, 0, 2] == pytest.approx(0.0)


def test_truncation_cuts_both_terms_alike_unless_released() -> None:
    gem = Gem(PROMPT, name="gem_raw", truncate=5, reads="raw")
    data = gem.measure(panel(), ScriptedLogProb(overlap), seed=0)
    alike, released = (gem.score(data, d).directed for d in ("corrected", "released"))
    assert alike is not None
    assert released is not None
    # i0: x = "alpha", y1 = "beta ga" cut to "beta " -> "beta"; the whole y1 has three words
    assert alike.values[0, 0, 1] == pytest.approx(0.0)
    assert released.values[0, 0, 1] == pytest.approx(-3.0 - 3 * -3.0)
