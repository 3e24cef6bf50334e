"""Agreement by the definition: loops over units and pairs of texts, invariances, known spreads."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from judgelab.stats.trust.agreement import Shares, category_target, graded_rows, preference_target

NAN = np.nan


def sides(judge: np.ndarray) -> np.ndarray:
    """Answers [units, 2] of preferences; a tie is half of each."""
    return np.stack([judge, 1 - judge], axis=1)


def close(found: Shares, total: np.ndarray, count: np.ndarray, twice: bool = False) -> None:
    """Of the one judge."""
    wanted = Shares.of(total, count, twice=twice)
    np.testing.assert_allclose(found.value[0], wanted.value, atol=1e-9)
    np.testing.assert_allclose(found.adds[0], wanted.adds, atol=1e-9)
    np.testing.assert_array_equal(found.clusters[0], wanted.clusters)


def batches(units: int = 24, people: int = 5, each: int = 2, grades: int = 4) -> np.ndarray:
    """Grades of ``each`` people a text, who take turns."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, grades, (units, people)).astype(float)
    order = np.argsort(rng.random(labels.shape), axis=1)
    return np.where(order < each, labels, NAN)


def by_pairs(labels, item, values, judged, weight, across, leave_out, same_person, people=False):
    """Credits and stakes [units], from a loop over pairs of rows (text, person left out)."""
    known, rows = ~np.isnan(labels), []
    for u in range(len(labels)):
        mine = np.flatnonzero(known[u])
        if not judged[u]:
            continue
        if not leave_out and len(mine):
            rows.append((u, 0, np.mean(labels[u, mine]), values[u], 1.0))
        for p in mine if leave_out and len(mine) > 1 else []:
            rest = np.mean([labels[u, q] for q in mine if q != p])
            said = labels[u, p] if people else values[u]
            rows.append((u, p, rest, said, 1.0 if same_person else 1 / len(mine)))
    total, count = np.zeros(len(labels)), np.zeros(len(labels))
    for (u, p, target, said, w), (v, q, other, told, x) in combinations(rows, 2):
        meet = u != v and (across or item[u] == item[v]) and (p == q or not same_person)
        if not meet or abs(target - other) < 1e-9:
            continue
        right = np.sign(said - told) * np.sign(target - other)
        # a pair of an item was drawn once, one of two items twice
        w, x = (one * weight[k] ** (1 if across else 0.5) for one, k in ((w, u), (x, v)))
        for unit in (u, v):
            total[unit] += w * x * (0.0 if np.isnan(right) else (1 + right) / 2)
            count[unit] += w * x
    return total, count


@pytest.mark.parametrize(("across", "leave_out", "complete"), [*product([False, True], repeat=3)])
def test_graded_pairs_are_those_of_a_loop(across: bool, leave_out: bool, complete: bool) -> None:
    """Ties on both sides, grades that are missing, texts nobody judged, and raters in batches."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 4, (24, 3)).astype(float) if complete else batches()
    labels[[3, 9], 0] = labels[5] = NAN
    item, units = np.repeat(np.arange(6), 4), np.arange(24)
    values = rng.integers(0, 4, 24).astype(float)
    values[[1, 8]] = NAN
    judged = rng.random(24) < 0.9
    weight = 0.5 + rng.random(6)[item]
    found = graded_rows(labels, item, units, weight, leave_out=leave_out, across=across)
    given = labels, item, values, judged, weight, across, leave_out, complete
    close(found.shares(values, judged[None]), *by_pairs(*given), across)
    if leave_out:
        close(found.of_people(judged[None]), *by_pairs(*given, people=True), across)


def test_what_pairs_of_clusters_add_has_the_spread_of_leaving_out_clusters() -> None:
    """60 clusters of one to three texts; the jackknife's standard error is within a tenth."""
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    own = rng.normal(size=60)[cluster]
    labels = np.round(own + rng.normal(size=len(cluster)))[:, None]
    values = np.round(own + rng.normal(size=len(cluster)), 1)

    def share(kept: np.ndarray) -> Shares:
        there = np.unique(cluster[kept], return_inverse=True)[1]
        ones = np.ones(kept.sum())
        rows = graded_rows(labels[kept], there, there, ones, leave_out=False, across=True)
        return rows.shares(values[kept], np.ones((1, kept.sum()), np.bool_)).at(0)

    whole = share(cluster >= 0)
    without = np.array([share(cluster != k).value for k in range(60)])
    jackknife = np.sqrt(59 * without.var())
    assert whole.adds.mean() == pytest.approx(whole.value)
    assert whole.adds.std(ddof=1) / np.sqrt(60) == pytest.approx(jackknife, rel=0.1)
    one = whole.estimates().at()
    assert one.low < one.value < one.high


def test_categories_against_loops() -> None:
    labels = batches(30, 5, 3, grades=3)
    labels[4] = labels[7, 1:] = NAN
    rng = np.random.default_rng(5)
    judge, weight = rng.integers(0, 3, 30), rng.random(30) + 0.5
    judged, cluster = rng.random(30) < 0.9, np.arange(30) // 2
    answers = np.eye(3)[judge] * (np.arange(30) != 11)[:, None]  # one reply without a verdict
    total, count, people = (np.zeros((3, 15)) for _ in range(3))
    for u in np.flatnonzero(judged):
        given = labels[u][~np.isnan(labels[u])].astype(int)
        for k, one in enumerate(given):
            share = weight[u] / len(given)
            count[one, cluster[u]] += share
            total[one, cluster[u]] += share * answers[u, one]
            rest = np.delete(given, k)
            if len(rest):
                people[one, cluster[u]] += share * np.mean(rest == one)
    target = category_target(labels, 3, cluster, weight)
    close(target.shares(answers, judged[None], each=True), total, count)
    close(target.shares(answers, judged[None]), total.sum(axis=0), count.sum(axis=0))
    close(target.of_people(judged[None], each=True), people, count)
    close(target.of_people(judged[None]), people.sum(axis=0), count.sum(axis=0))


@pytest.mark.parametrize("leave_out", [False, True])
def test_preferences_against_loops(leave_out: bool) -> None:
    """Where (the remaining) people prefer neither, nothing is at stake; who ties earns a half."""
    rng = np.random.default_rng(6)
    labels = rng.choice([0, 0.5, 1, NAN], (40, 3), p=[0.35, 0.15, 0.35, 0.15])
    judge, weight = rng.choice([0, 0.5, 1], 40), rng.random(40) + 0.5
    total, count, people = np.zeros(40), np.zeros(40), np.zeros(40)
    for u in range(40):
        given = labels[u][~np.isnan(labels[u])]
        left = [None] if not leave_out else range(len(given)) if len(given) > 1 else []
        for k in left:
            rest = given if k is None else np.delete(given, k)
            side = np.sign(np.round(np.mean(rest) - 0.5, 9)) if len(rest) else 0
            share = weight[u] / len(left) * (side != 0)
            count[u] += share
            total[u] += share * (judge[u] if side > 0 else 1 - judge[u])
            if k is not None:
                people[u] += share * (given[k] if side > 0 else 1 - given[k])
    target = preference_target(labels, np.arange(40), weight, leave_out=leave_out)
    every = np.ones((1, 40), np.bool_)
    close(target.shares(sides(judge), every), total, count)
    if leave_out:
        close(target.of_people(every), people, count)
