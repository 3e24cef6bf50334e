"""From reviews to training sequences: the very tokens that scoring will see."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from judgelab.core.panel import Agent, Item, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.finetune.settings import METRICS, Settings
from judgelab.mechanism.conditional import Setting
from judgelab.scoring.chat import ChatTemplate, ChatText
from judgelab.scoring.encode import Encoder, RawText
from judgelab.scoring.load import load_tokenizer

IGNORED = -100
"""The label of a token that is read, but not to be predicted."""


@dataclass(frozen=True)
class Example:
    """One training text.

    Attributes:
        item: the paper it is of.
        metric: gem or gem_s.
        context, target: as scoring puts them.
    """

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

    @property
    def tokens(self) -> int:
        """Tokens of all rows."""
        return sum(len(row.input_ids) for row in self.rows)


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
        for metric, setting in metrics(prompt, wanted).items():
            if not setting.synopsis or item.synopsis:
                yield from _of_item(item, row, metric, setting)


def _of_item(
    item: Item, row: tuple[str | None, ...], metric: str, setting: Setting
) -> Iterator[Example]:
    present = [text for text in row if text is not None]
    for i, x in enumerate(present):
        for j, y in enumerate(present):
            if i != j:
                yield Example(item.id, metric, setting.context(item, x), setting.cut(y))
    for y in present:
        yield Example(item.id, metric, setting.context(item, None), setting.cut(y))


def encoder(settings: Settings, folder: Path) -> Encoder:
    """The encoder that ``evaluation_lm=transformers`` would use.

    Raises:
        ConfigError: no fast tokenizer, or no chat template that can be pinned.
    """
    tokenizer = load_tokenizer(folder)
    if not settings.chat:
        return Encoder(tokenizer, RawText(), settings.ends)
    template = ChatTemplate(tokenizer, date.fromisoformat(settings.template_date))
    return Encoder(tokenizer, ChatText(template, settings.system), settings.ends)


def sequences(found: list[Example], encoder: Encoder, settings: Settings) -> Sequences:
    """The examples as tokens, each text encoded once."""
    contexts = list(dict.fromkeys(example.context for example in found))
    targets = list(dict.fromkeys(example.target for example in found))
    place_x = {text: k for k, text in enumerate(contexts)}
    place_y = {text: k for k, text in enumerate(targets)}
    pairs = [(place_x[example.context], place_y[example.target]) for example in found]
    rows, cut = [], 0
    for job in encoder.encode(contexts, targets, pairs).jobs:
        if job is None or not job[1] or len(job[0]) >= settings.max_seq_length:
            continue
        context, target = job
        whole = context + target
        ids = whole[: settings.max_seq_length]
        cut += len(ids) < len(whole)
        read = len(context) if settings.loss_on == "response" else 0
        rows.append(Sequence(ids, (*[IGNORED] * read, *ids[read:])))
    return Sequences(tuple(rows), cut, len(found) - len(rows))
