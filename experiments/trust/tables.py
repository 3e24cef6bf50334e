"""Tables of judgments whose truth is known; each holds every judge of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Kind, Units

EFFECTS = np.array([-0.6, -0.2, 0.2, 0.6, 0.0])  # how good systems are beside each other, in grades
Seed = np.random.Generator


def table_of(
    kind: Kind,
    units: Units,
    labels: Floats,
    judges: Mapping[str, Floats],
    levels: Sequence[str] = (),
) -> JudgmentTable:
    """From labels [units, raters] and what judges say [units], or [units, orders]."""
    raters = tuple(f"rater {k}" for k in range(labels.shape[1]))
    shape = len(labels), 2 if kind == "preference" else 1
    arrays = [np.broadcast_to(x.reshape(len(x), -1)[:, : shape[1]], shape) for x in judges.values()]
    verdicts = np.stack(arrays)
    who, mask = tuple(map(JudgeFacts, judges)), np.ones(verdicts.shape, np.bool_)
    table = JudgmentTable(kind, units, raters, labels, who, verdicts, mask, levels=tuple(levels))
    return replace(table, positive="pass" if "pass" in levels else "")


def right(truth: Floats, chance: float | Floats, rng: Seed, count: int = 2) -> Floats:
    """[units, count] answers that are right with a chance, of two (0 and 1)."""
    hits = rng.random((len(truth), count)) < np.reshape(chance, (-1, 1))
    return np.where(hits, truth[:, None], 1 - truth[:, None])


def grades(
    n: int, rng: Seed, *, differ: bool = True, texts: int = 4, raters: int = 3
) -> JudgmentTable:
    """Grades 1 to 5 of each item's texts by ``texts`` systems; of one text, five systems in turn.

    Args:
        differ: whether some systems are better.
    """
    item = np.repeat(np.arange(n), texts)
    system = np.tile(np.arange(texts), n) if texts > 1 else item % 5
    quality = 3 + rng.normal(0, 0.5, n)[item] + rng.normal(0, 0.8, len(item))
    quality += EFFECTS[system] * differ
    words = np.rint(np.exp(4 + 0.1 * (quality - 3) + rng.normal(0, 0.4, len(item))))

    def rater(count: int, noise: float = 0.6) -> Floats:
        noisy = quality[:, None] + rng.normal(0, noise, (len(item), count))
        return np.clip(np.rint(noisy), 1, 5)

    judges = {
        "one more rater": rater(1),
        "the truth": np.clip(quality, 1, 5),
        "mean of ten raters": rater(10).mean(axis=1),
        "knows the system alone": 3 + EFFECTS[system],
        "length alone": words,
        "random": rng.integers(1, 6, len(item)).astype(float),
        "rater with noise of two grades": rater(1, 2.0),
    }
    units = Units.of(
        [f"item {k}" for k in item],
        [f"system {k}" for k in system],
        words=np.column_stack([words, words * np.nan]),
    )
    return table_of("grade", units, rater(raters), judges)


def pairs(n: int, rng: Seed, *, raters: int = 1) -> JudgmentTable:
    """Two systems' texts of each item; the longer one is better in 60 of 100.

    One rater is the truth itself; three have noise, and ties where texts are nearly alike.
    """
    gap, swap = rng.normal(0, 1, n), rng.random(n) < 0.5
    best = (gap > 0).astype(float)
    longer = right(best, 0.6, rng, 1)[:, 0]
    words = rng.integers(20, 200, (n, 1)) + 15 * np.column_stack([longer, 1 - longer])

    def rater(count: int) -> Floats:
        noisy = gap[:, None] + rng.normal(0, 0.5, (n, count))
        return np.where(np.abs(noisy) < 0.1, 0.5, noisy > 0)

    judges = {
        "always longer": longer,
        "random": rng.integers(0, 2, (n, 2)).astype(float),
        "always the first shown": np.ones((n, 2)) * [1.0, 0.0],
        "always the first stored": np.ones(n),
    }
    if raters == 1:
        judges["right in .8, the bar"] = right(best, 0.8, rng, 1)[:, 0]
        judges["right in .9"] = right(best, 0.9, rng, 1)[:, 0]
    else:
        judges |= {"one more rater": rater(1)[:, 0], "the truth": best}
        judges["right in .55"] = right(best, 0.55, rng)
    names = [np.where(side, "b", "a").tolist() for side in (swap, ~swap)]
    units = Units.of([f"item {k}" for k in range(n)], *names, words=words)
    return table_of("preference", units, best[:, None] if raters == 1 else rater(raters), judges)


def categories(n: int, rng: Seed, *, rate: float, raters: int = 1, pool: int = 1) -> JudgmentTable:
    """Pass or fail, where ``rate`` of the texts pass, and n are labelled of ``pool`` times n.

    One rater is the truth itself; of three each is right in 95 of 100.
    """
    truth = (rng.random(n * pool) < rate).astype(float)
    judges = {
        "perfect": truth,
        "right in .97 of each class": right(truth, 0.97, rng),
        "finds .3 of those that pass": right(truth, np.where(truth == 1, 0.3, 0.98), rng),
        "always the larger class": np.full(len(truth), float(rate > 0.5)),
        "random": (rng.random(len(truth)) < rate).astype(float),
    }
    if raters > 1:
        judges["one more rater"] = right(truth, 0.95, rng)
    labels = right(truth, 1.0 if raters == 1 else 0.95, rng, raters)
    labels[n:] = np.nan
    return table_of("category", _texts(len(truth)), labels, judges, ("fail", "pass"))


def three(n: int, rng: Seed) -> JudgmentTable:
    """Three classes of .6, .3 and .1, one rater."""
    truth, other = (rng.choice(3, n, p=(0.6, 0.3, 0.1)).astype(float) for _ in range(2))
    wrong = (truth + rng.integers(1, 3, n)) % 3
    judges = {
        "perfect": truth,
        "right in .97 of each class": np.where(rng.random(n) < 0.97, truth, wrong),
        "finds .3 of the rarest": np.where((truth == 2) & (rng.random(n) < 0.7), 0, truth),
        "always the larger class": np.zeros(n),
        "random": other,
    }
    return table_of("category", _texts(n), truth[:, None], judges, ("good", "unclear", "bad"))


def _texts(n: int) -> Units:
    return Units.of([f"item {k}" for k in range(n)], ["one"] * n)


def renamed(table: JudgmentTable, rng: Seed) -> JudgmentTable:
    """The same rows in another order, with other names of items, systems and categories."""
    moved = table.at(rng.permutation(len(table.units)))
    place = rng.permutation(len(moved.levels))
    levels = [f"class {rng.integers(10**6)} {moved.levels[k]}" for k in np.argsort(place)]
    units, names = moved.units, {"": ""}
    for name in rng.permutation(sorted({*units.item, *units.first, *units.second} - {""})):
        names[name] = str(len(names))
    columns = (units.item, units.first, units.second)
    others = ([names[name] for name in column] for column in columns)

    def relabelled(values: Floats) -> Floats:
        at = np.nan_to_num(values).astype(int)
        return np.where(np.isnan(values), np.nan, place[at]) if len(place) else values

    return replace(
        moved,
        units=Units.of(*others, words=units.words),
        labels=relabelled(moved.labels),
        verdicts=relabelled(moved.verdicts),
        levels=tuple(levels),
        positive=next((name for name in levels if name.endswith(" pass")), ""),
    )
