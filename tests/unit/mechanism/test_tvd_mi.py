"""TVD-MI: both critics, both estimators, and whether the lower bound stays one."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest
from judgelab.core.prompt import Prompt
from judgelab.mechanism.tvd_mi import TvdMi, likelihood_grades
from tests.scripted import ScriptedChat, ScriptedLogProb, panel_of

PROMPT = Prompt("tvd_mi.txt")
ESTIMATORS = TvdMi(PROMPT, estimator="graded"), TvdMi(PROMPT, estimator="binary")
SOURCES = ("elks", "foxes", "gnus", "crows")
TEXTS = [[f"{source} by {name}" for name in ("ann", "bob", "cat")] for source in SOURCES]


def same_source(request: ChatRequest) -> bool:
    body = request.messages[0].content
    return max(body.count(source) for source in SOURCES) == 2


def test_a_perfect_critic_reaches_one_and_a_blind_one_zero() -> None:
    perfect = ScriptedChat(lambda r: "[[Significant Gain]]" if same_source(r) else "[[No Gain]]")
    blind = ScriptedChat(lambda r: "[[Little Gain]]")
    for mechanism in ESTIMATORS:
        for critic, value in ((perfect, 1), (blind, 0)):
            scores = mechanism.score(mechanism.measure(panel_of(TEXTS), critic, seed=0))
            np.testing.assert_array_equal(scores.agent.values, np.full((4, 3), value))


def test_p_and_q_are_stored_apart_and_all_ordered_pairs_are_asked() -> None:
    lm = ScriptedChat(lambda r: "It fits. [[Little Gain]]" if same_source(r) else "[[no gain]]")
    mechanism = TvdMi(PROMPT, negatives=2)
    data = mechanism.measure(panel_of(TEXTS), lm, seed=0)
    assert len(lm.seen) == 4 * 6 * (1 + 2)
    off = ~np.eye(3, dtype=bool)
    assert (data["p"].values[:, off] == 0.25).all()
    assert (data["q"].values[:, off] == 0).all()
    assert data["q"].shape == (4, 3, 3, 2)
    assert data.attrs["critic"] == "chat"
    binary = TvdMi(PROMPT, estimator="binary").score(data)
    assert (binary.agent.values == 0).all()  # "little" is not acceptance


def test_pairs_alone_ask_about_no_other_item() -> None:
    lm = ScriptedChat(lambda r: "[[Significant Gain]]" if same_source(r) else "[[No Gain]]")
    pairs = TvdMi(PROMPT).measure_pairs(panel_of(TEXTS), lm, seed=0)
    assert len(lm.seen) == 4 * 6
    assert pairs.attrs["critic"] == "chat"
    assert np.nansum(pairs.values) == 4 * 6


def test_refused_and_unreadable_replies_are_unscored_not_zero() -> None:
    def rule(request: ChatRequest) -> str | None:
        if "ann" in request.messages[0].content and "bob" in request.messages[0].content:
            return None
        return "no label at all" if "cat" not in request.messages[0].content else "[[Little Gain]]"

    mechanism = TvdMi(PROMPT)
    data = mechanism.measure(panel_of(TEXTS), ScriptedChat(rule), seed=0)
    assert np.isnan(data["p"].values[:, 0, 1]).all()
    scores = mechanism.score(data)
    assert scores.pair is not None
    assert np.isnan(scores.pair.values[:, 0, 1]).all()
    assert not np.isnan(scores.agent.values).any()  # the peers that did answer still count


def test_auto_takes_chat_where_there_is_chat_and_says_so() -> None:
    mechanism = TvdMi(PROMPT)
    assert mechanism.requires == (frozenset({Capability.CHAT}), frozenset({Capability.LOGPROB}))
    data = mechanism.measure(panel_of(TEXTS), ScriptedLogProb(lambda c, t: -1.0), seed=0)
    assert data.attrs["critic"] == "likelihood"
    assert TvdMi(PROMPT, critic="chat").requires == (frozenset({Capability.CHAT}),)


def test_thresholds_of_an_item_do_not_see_its_fold() -> None:
    rng = np.random.default_rng(0)
    data = noise(rng, 8, 4, shift=0.0)
    fold = np.arange(8) % 2
    before, _ = likelihood_grades(data, fold, 0.5, 0.9)
    changed = data.copy(deep=True)
    changed["negative"].values[fold == 0] += 100.0
    changed["conditional"].values[0] = data["conditional"].values[0]
    after, _ = likelihood_grades(changed, fold, 0.5, 0.9)
    np.testing.assert_array_equal(after.values[fold == 0], before.values[fold == 0])
    assert (after.values[fold == 1] != before.values[fold == 1]).any()


def noise(rng: np.random.Generator, n: int, m: int, shift: float) -> xr.Dataset:
    """P cells at N(shift, 1) and Q cells at N(0, 1), in nats."""
    dims = ("item", "agent", "peer")
    diagonal = np.where(np.eye(m, dtype=bool), np.nan, 0.0)
    return xr.Dataset(
        {
            "conditional": (dims, rng.normal(shift, 1, (n, m, m)) + diagonal),
            "negative": ((*dims, "draw"), rng.normal(0, 1, (n, m, m, 1)) + diagonal[..., None]),
            "marginal": (dims[:2], np.zeros((n, m))),
            "tokens": (dims[:2], np.ones((n, m))),
        }
    )


def test_without_information_the_bound_is_zero_on_average() -> None:
    rng = np.random.default_rng(1)
    for mechanism in ESTIMATORS:
        means = []
        for _ in range(80):
            data = noise(rng, 6, 5, shift=0.0)
            data["fold"] = ("item", np.arange(6) % 2)
            means.append(float(mechanism.score(data).agent.mean()))
        error = np.std(means) / np.sqrt(len(means))
        assert abs(np.mean(means)) < 4 * error


def test_with_information_the_bound_stays_below_the_true_total_variation() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(2)
    truth = 2 * norm.cdf(1.5 / 2) - 1  # total variation distance of N(1.5, 1) and N(0, 1)
    for mechanism in ESTIMATORS:
        for levels in ((0.5, 0.8), (0.75, 0.9), (0.95, 0.99)):
            data = noise(rng, 400, 6, shift=1.5)
            data["p"], data["q"] = likelihood_grades(data, np.arange(400) % 2, *levels)
            assert 0 < float(mechanism.score(data).agent.mean()) < truth + 0.01


def test_too_few_items_or_negatives_are_refused() -> None:
    lm = ScriptedLogProb(lambda c, t: -1.0)
    with pytest.raises(ConfigError, match="raise limit, or lower mechanism.negatives"):
        TvdMi(PROMPT).measure(panel_of(TEXTS[:3]), lm, seed=0)


def test_without_a_single_independent_pair_there_is_no_grade() -> None:
    data = noise(np.random.default_rng(3), 6, 3, shift=0.0)
    fold = np.arange(6) % 2
    data["negative"].values[fold == 1] = np.nan  # what fold 0 would take its thresholds from
    p, q = likelihood_grades(data, fold, 0.5, 0.9)
    assert np.isnan(p.values[fold == 0]).all()
    assert np.isnan(q.values[fold == 0]).all()
    off = ~np.eye(3, dtype=bool)
    assert not np.isnan(p.values[fold == 1][:, off]).any()
