"""A panel of reviews as training sequences (which papers, texts, tokens), and as a measure.

Held-out papers say how well a model predicts reviews, paper by paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, permutations
from pathlib import Path

import numpy as np
import xarray as xr

from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Agent, Panel, rng_for
from judgelab.finetune.settings import METRICS, Settings
from judgelab.mechanism.logprob import Setting, measure_conditional
from judgelab.scoring.encode import framed_encoder
from judgelab.scoring.load import load_tokenizer
from judgelab.scoring.source import long_texts
from judgelab.stats.intervals.arrays import Floats, divide

IGNORED = -100  # the label of a token that is read, but not to be predicted


@dataclass(frozen=True)
class Example:
    """Tokens of one training text, and which of them are to be predicted (others IGNORED)."""

    input_ids: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Examples:
    """Training texts as tokens; those are left out that imitate control tokens of the chat
    template, or of whose response nothing is left."""

    rows: tuple[Example, ...]
    cut: int  # how many lost their end, being longer than ``max_seq_length``
    left_out: int


def split(panel: Panel, share: float, seed: int) -> tuple[Panel, Panel]:
    """Papers that train, and a share that only measures: at least one unless it is 0.

    Each draws its own number. Papers that have a longer source, synopsis or text in common go the
    same way. DataError: no paper at all, or fewer than two that differ where some are held out.
    """
    families = _families(panel)
    measuring: set[str] = set()
    if share or not families:
        draws = {name: float(rng_for(seed, "held out", name).random()) for name in set(families)}
        quota = max(1, round(share * len(families)))
        for name in sorted(draws, key=lambda name: (draws[name], name))[:-1]:
            if sum(family in measuring for family in families) < quota:
                measuring.add(name)
        if not measuring:
            raise DataError(
                f"{len(families)} papers cannot be split into training and held-out ones: "
                "fine-tuning needs at least two papers without a common text."
            )
    apart = [family in measuring for family in families]
    return part(panel, [not own for own in apart]), part(panel, apart)


def part(panel: Panel, keep: Sequence[bool]) -> Panel:
    """The panel's items that ``keep`` [items] marks."""
    items, texts = tuple(compress(panel.items, keep)), tuple(compress(panel.texts, keep))
    return replace(panel, items=items, texts=texts)


def refuse_overlap(train: Panel, evaluation: Panel) -> None:
    """DataError where an item id, or a source, synopsis or text of 100 characters or more, is in
    both: nothing is trained on that will be evaluated.

    Both panels hold texts as they came, and ``train`` also the papers held out.
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


def settings_of(settings: Settings) -> dict[str, Setting]:
    """The ways in which a text is predicted: gem, and gem_s with the synopsis."""
    return {
        name: Setting(settings.prompt, name == "gem_s", None)
        for name in METRICS
        if name in settings.metrics
    }


def sample_texts(panel: Panel, count: int, seed: int) -> Panel:
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
            places = rng_for(seed, "texts", item.id).choice(len(present), count, replace=False)
            present = [present[k] for k in sorted(places)]
        items.append(item)
        rows.append((*present, *[None] * (count - len(present))))
    return Panel(
        items=tuple(items),
        agents=tuple(Agent(f"text {k + 1}") for k in range(count)),
        texts=tuple(rows),
        task=panel.task,
        provenance={**panel.provenance, "too_few_texts": len(panel.items) - len(items)},
    )


def prompts(panel: Panel, settings: Settings) -> Iterator[tuple[str, str]]:
    """(context, target), as scoring puts them: every ordered pair of an item's texts, and every
    text alone (appendix E.1).

    Three texts give nine of them for GEM and, where the item has a synopsis, nine for GEM-S.
    """
    for item, row in zip(panel.items, panel.texts, strict=True):
        present = [text for text in row if text is not None]
        pairs = [*permutations(present, 2), *((None, text) for text in present)]
        for setting in settings_of(settings).values():
            if not setting.synopsis or item.synopsis:
                for first, text in pairs:
                    yield setting.context(item, first), setting.cut(text)


def examples(panel: Panel, settings: Settings, folder: Path) -> Examples:
    """The prompts of a panel as tokens of the folder's tokenizer, each text encoded once."""
    texts = list(prompts(panel, settings))
    contexts, targets = (
        {text: k for k, text in enumerate(dict.fromkeys(side))}
        for side in ([context for context, _ in texts], [target for _, target in texts])
    )
    pairs = [(contexts[context], targets[target]) for context, target in texts]
    words, template = load_tokenizer(folder), settings.scoring["template"]
    encoder = framed_encoder(words, template, settings.system, settings.end_token)
    rows, truncations = [], 0
    for job in encoder.encode(list(contexts), list(targets), pairs):
        if job is None or not job[1] or len(job[0]) >= settings.max_seq_length:
            continue
        context, target = job
        whole = context + target
        ids = whole[: settings.max_seq_length]
        truncations += len(ids) < len(whole)
        offset = len(context) if settings.loss_on == "response" else 0
        rows.append(Example(ids, (*[IGNORED] * offset, *ids[offset:])))
    return Examples(tuple(rows), truncations, len(texts) - len(rows))


def measure(
    panel: Panel, lm: EvaluationLM | None, settings: Settings
) -> tuple[dict[str, Floats], dict[str, xr.Dataset]]:
    """Score every ordered pair of a paper's texts, and every text alone; ``lm`` is None where no
    paper was held out.

    Returns:
        name -> [items], NaN where a paper has nothing to score: ``loss``, the mean of -log P over
        all tokens of all predictions (with and without a first text, with and without the
        synopsis), nats per token; of each metric the mean over ordered pairs of
        log P(y | x, z) - log P(y | z), nats. And the measurements themselves by metric.
    """
    pairs = ~np.eye(len(panel.agents), dtype=np.bool_)
    nats, tokens = np.zeros(len(panel.items)), np.zeros(len(panel.items))
    values: dict[str, Floats] = {}
    raw: dict[str, xr.Dataset] = {}
    for metric, setting in settings_of(settings).items():
        if lm is None:
            values[metric] = np.empty(0)
            continue
        data = measure_conditional(panel, lm, setting, pairs)
        names = "peer_given_agent", "marginal", "tokens"
        paired, alone, length = (data[name].values for name in names)
        gain = paired - alone[:, None, :]
        if np.isnan(gain).all():
            continue  # no paper has a synopsis
        counts = np.count_nonzero(~np.isnan(gain), axis=(1, 2))
        values[metric] = divide(np.nansum(gain, axis=(1, 2)), counts)
        raw[metric] = data
        # of a pair the peer's text is predicted
        for scores, own in ((paired, length[:, None, :]), (alone, length)):
            axes = tuple(range(1, scores.ndim))
            nats -= np.nansum(scores, axis=axes)
            tokens += np.where(np.isnan(scores), 0, own).sum(axis=axes)
    return {"loss": divide(nats, tokens), **values}, raw
