"""Which papers train, which are held out, and that neither is evaluated later."""

from __future__ import annotations

from dataclasses import dataclass, replace

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel, rng_for
from judgelab.scoring.trained_on import long_texts


@dataclass(frozen=True)
class Split:
    """Papers that train, and papers that only measure; perhaps none of these."""

    train: Panel
    held_out: Panel


def split(panel: Panel, share: float, seed: int) -> Split:
    """Hold out a share of the papers, at least one unless it is 0; each draws its own number.

    Papers that have a longer source, synopsis or text in common go the same way, so that nothing
    of a held-out paper is trained on.

    Raises:
        ConfigError: the share is not in [0, 1).
        DataError: no paper at all, or fewer than two that differ where some are to be held out.
    """
    if not 0 <= share < 1:
        raise ConfigError(f"study.held_out={share} must be at least 0 and below 1.")
    if share == 0 and panel.items:
        return Split(train=panel, held_out=part(panel, [False] * len(panel.items)))
    families = _families(panel)
    draw = {name: float(rng_for(seed, "held out", name).random()) for name in set(families)}
    wanted = max(1, round(share * len(families)))
    held: set[str] = set()
    for name in sorted(draw, key=lambda name: (draw[name], name)):
        if sum(family in held for family in families) >= wanted or len(held) + 1 == len(draw):
            break
        held.add(name)
    if not held:
        raise DataError(
            f"{len(families)} papers cannot be split into training and held-out ones: fine-tuning "
            "needs at least two papers without a common text."
        )
    return Split(
        train=part(panel, [family not in held for family in families]),
        held_out=part(panel, [family in held for family in families]),
    )


def part(panel: Panel, keep: list[bool]) -> Panel:
    """The panel's items that ``keep`` [items] marks."""
    chosen = [k for k, kept in enumerate(keep) if kept]
    return replace(
        panel,
        items=tuple(panel.items[k] for k in chosen),
        texts=tuple(panel.texts[k] for k in chosen),
    )


def refuse_overlap(train: Panel, evaluation: Panel) -> None:
    """Make sure that nothing is trained on that will be evaluated.

    Args:
        train: papers to fine-tune on, held-out ones included, texts as they came.
        evaluation: papers of the evaluation, texts as they came.

    Raises:
        DataError: an item id, or a source, synopsis or text of 100 characters or more, is in both.
    """
    ids = {item.id for item in evaluation.items}
    texts = dict(long_texts(evaluation))
    shared = [item.id for item in train.items if item.id in ids]
    if shared:
        raise DataError(
            f"{len(shared)} of {len(train.items)} papers to fine-tune on are evaluation papers "
            f"too (id {shared[0]!r}): leave them out, or rename ids that only look alike."
        )
    for text, mine in long_texts(train):
        if text in texts:
            raise DataError(
                f"Paper {mine!r} to fine-tune on and evaluation paper {texts[text]!r} hold the "
                f"same text ({text[:60]!r}...): leave one of them out."
            )


def _families(panel: Panel) -> list[str]:
    """[items] the first paper that each is connected with by common texts."""
    first: dict[str, str] = {}
    family = {item.id: item.id for item in panel.items}

    def root(name: str) -> str:
        while family[name] != name:
            name = family[name]
        return name

    for text, name in long_texts(panel):
        family[root(name)] = root(first.setdefault(text, name))
    return [root(item.id) for item in panel.items]
