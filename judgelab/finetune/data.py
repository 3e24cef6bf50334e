"""From a panel of reviews to training sequences: which papers, which texts, which tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import permutations
from pathlib import Path

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.finetune.settings import METRICS, Settings
from judgelab.mechanism.conditional import Setting
from judgelab.scoring.chat import ChatTemplate, ChatText
from judgelab.scoring.encode import Encoder, RawText
from judgelab.scoring.load import load_tokenizer
from judgelab.scoring.trained_on import long_texts

IGNORED = -100
"""The label of a token that is read, but not to be predicted."""


@dataclass(frozen=True)
class Example:
    """One training text of a paper, for gem or gem_s; context and target as scoring puts them."""

    item: str
    metric: str
    context: str
    target: str


@dataclass(frozen=True)
class Sequence:
    """Tokens of one training text, and which of them are to be predicted (others IGNORED)."""

    input_ids: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Sequences:
    """Training texts as tokens.

    Attributes:
        rows: those that can be learnt from.
        cut: how many lost their end, being longer than ``max_seq_length``.
        left_out: how many are not among the rows: they imitate control tokens of the chat
            template, or nothing of their response is left.
    """

    rows: tuple[Sequence, ...]
    cut: int
    left_out: int


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

    Both panels hold texts as they came, and ``train`` also the papers held out.

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


def metrics(prompt: Prompt, wanted: Collection[str] = METRICS) -> dict[str, Setting]:
    """The ways in which a text is predicted: gem, and gem_s with the synopsis."""
    return {name: Setting(prompt, name == "gem_s", None) for name in METRICS if name in wanted}


def chosen(panel: Panel, count: int, seed: int) -> Panel:
    """Up to ``count`` texts of every paper, drawn by (seed, paper), as agents "text 1", ...

    Papers with fewer than two texts are left out (there is nothing to predict one from); the
    provenance counts them as ``too_few_texts``.
    """
    items, rows = [], []
    for item, row in zip(panel.items, panel.texts, strict=True):
        present = [text for text in row if text is not None and text.strip()]
        if len(present) < 2:
            continue
        if len(present) > count:
            drawn = rng_for(seed, "texts", item.id).choice(len(present), count, replace=False)
            present = [present[k] for k in sorted(drawn)]
        items.append(item)
        rows.append((*present, *[None] * (count - len(present))))
    return Panel(
        items=tuple(items),
        agents=tuple(Agent(f"text {k + 1}") for k in range(count)),
        texts=tuple(rows),
        task=panel.task,
        provenance={**panel.provenance, "too_few_texts": len(panel.items) - len(items)},
    )


def examples(panel: Panel, prompt: Prompt, wanted: Collection[str] = METRICS) -> Iterator[Example]:
    """Every ordered pair of an item's texts, and every text alone (appendix E.1).

    Three texts give nine examples for GEM and, where the item has a synopsis, nine for GEM-S.
    """
    for item, row in zip(panel.items, panel.texts, strict=True):
        present = [text for text in row if text is not None]
        pairs = [*permutations(present, 2), *((None, text) for text in present)]
        for metric, setting in metrics(prompt, wanted).items():
            if not setting.synopsis or item.synopsis:
                for first, text in pairs:
                    context = setting.context(item, first)
                    yield Example(item.id, metric, context, setting.cut(text))


def encoder(settings: Settings, folder: Path) -> Encoder:
    """The encoder that ``evaluation_lm=transformers`` would use."""
    tokenizer = load_tokenizer(folder)
    if not settings.chat:
        return Encoder(tokenizer, RawText(), settings.ends)
    template = ChatTemplate(tokenizer, date.fromisoformat(settings.template_date))
    return Encoder(tokenizer, ChatText(template, settings.system), settings.ends)


def sequences(found: list[Example], encoder: Encoder, settings: Settings) -> Sequences:
    """The examples as tokens, each text encoded once."""
    contexts, targets = (
        {text: k for k, text in enumerate(dict.fromkeys(texts))}
        for texts in ((one.context for one in found), (one.target for one in found))
    )
    pairs = [(contexts[one.context], targets[one.target]) for one in found]
    rows, cut = [], 0
    for job in encoder.encode(list(contexts), list(targets), pairs).jobs:
        if job is None or not job[1] or len(job[0]) >= settings.max_seq_length:
            continue
        context, target = job
        whole = context + target
        ids = whole[: settings.max_seq_length]
        cut += len(ids) < len(whole)
        read = len(context) if settings.loss_on == "response" else 0
        rows.append(Sequence(ids, (*[IGNORED] * read, *ids[read:])))
    return Sequences(tuple(rows), cut, len(found) - len(rows))
