"""Which of some allowed replies a model gives, and how likely each of them is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch

from judgelab.scoring.engine import Engine
from judgelab.scoring.prefix_tree import Ids
from judgelab.scoring.trie import Fork, Trie


@dataclass(frozen=True)
class Choice:
    """An answer to a closed question.

    Attributes:
        best: index of the label that greedy decoding gives.
        nats: [labels] log P that the reply begins with the label, and with no longer one of them;
            so they exclude one another, and what is missing to 1 begins with none of them.
    """

    best: int
    nats: tuple[float, ...]


def choose(engine: Engine, questions: Sequence[tuple[Ids, Trie]]) -> list[Choice]:
    """Answer closed questions, all in one call of the engine, so that prompts share prefixes.

    The label is that of greedy decoding, which takes the likeliest token at each step, among the
    tokens that labels have: it is the one that the generated reply begins with, wherever that
    begins with a label. The likeliest label can be another one where labels have several tokens.
    Where one label begins another (1 and 10), the longer one is taken only if its next token is
    the likeliest of the whole vocabulary, as greedy decoding takes it.

    Args:
        engine: of the model.
        questions: the prompt's tokens and the allowed replies.
    """
    jobs = [(prompt + path, target) for prompt, trie in questions for path, target in trie.asked]
    found = iter(engine.score(jobs).tolist())
    choices = []
    for prompt, trie in questions:
        nats = {pair: next(found) for pair in trie.asked}
        best = _greedy(engine.model, prompt, trie, nats)
        choices.append(Choice(best, trie.totals(nats)))
    return choices


def _greedy(model: Any, prompt: Ids, trie: Trie, nats: Mapping[tuple[Ids, Ids], float]) -> int:
    path: Ids = ()
    passed: int | None = None  # the longest label on the way
    while path in trie.forks:
        fork = trie.forks[path]
        passed = fork.label if fork.label is not None else passed
        chain = fork.chains[0]
        if len(fork.chains) > 1:
            chain = max(fork.chains, key=lambda chain: nats[path, chain[:1]])
        if passed is not None and not _goes_on(model, prompt, trie, fork, chain, nats):
            return passed
        path = (*path, *chain)
    return trie.places[path]


def _goes_on(
    model: Any,
    prompt: Ids,
    trie: Trie,
    fork: Fork,
    chain: Ids,
    nats: Mapping[tuple[Ids, Ids], float],
) -> bool:
    """Whether greedy decoding goes on from a label to a longer one, by these tokens.

    What is known nearly always settles it; where other tokens might be likelier, the model is asked
    for all of them.
    """
    tokens = dict.fromkeys([*(other[0] for other in fork.chains), *trie.stops])
    known = {t: nats[fork.path, (t,)] for t in tokens if (fork.path, (t,)) in nats}
    if known and known.get(chain[0], math.inf) < max(known.values()):
        return False  # something else is likelier
    if nats[fork.path, chain] > math.log(0.5):
        return True  # so is each of its tokens, and none can be likelier
    if len(chain) == 1 and math.exp(nats[fork.path, chain]) > _unknown(known.values()):
        return True  # all other tokens have less together
    return all(
        likeliest(model, prompt + fork.path + chain[:place]) == token
        for place, token in enumerate(chain)
    )


def _unknown(known: Iterable[float]) -> float:
    """Probability of all tokens but those."""
    return 1 - math.fsum(math.exp(value) for value in known)


def likeliest(model: Any, context: Ids) -> int:
    """The token that greedy decoding puts behind the context, by one pass over all of it."""
    keep = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.forward).parameters else {}
    ids = torch.tensor([context], device=model.device)
    with torch.inference_mode():
        return int(model(input_ids=ids, use_cache=False, **keep).logits[0, -1].argmax())
