"""Closed questions put to a local model: which of some allowed replies it gives, how likely each.

Labels are a tree of tokens: where they part is what has to be asked to tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import signature
from typing import Any

import torch

from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, Reply
from judgelab.scoring.chat import ChatTemplate, differs
from judgelab.scoring.encode import Encoder
from judgelab.scoring.engine import Engine
from judgelab.scoring.generate import end_tokens
from judgelab.scoring.load import positions
from judgelab.scoring.prefix_tree import Ids, Job

LEAST = 1e-15  # of a label's own probability, what is left where longer labels have all but all
FOLLOWERS = (*".,:;/%)!?]-*'\"`\n ", ".\n", ":\n", "\n\n", "**", " (", " -", " out", " and")
"""What often follows a label in a reply that has more to say."""
Nats = Mapping[tuple[Ids, Ids], float]


@dataclass(frozen=True)
class Fork:
    """A place where labels part, or where one ends and another goes on (or the beginning)."""

    path: Ids  # tokens from the prompt to here
    chains: tuple[Ids, ...]  # the ways on, each up to the next fork or to the end of a label
    label: int | None  # index of the label whose tokens are ``path``; None where no label ends here


@dataclass(frozen=True)
class Trie:
    """Labels that a reply may begin with.

    Args:
        stops: tokens that end a reply, and such as may follow a label: where one label begins
            another, they tell at no cost that a reply does not go on to the longer one.
    """

    labels: tuple[Ids, ...]  # tokens of each, all different, none empty
    stops: Ids

    @cached_property
    def places(self) -> dict[Ids, int]:
        """Tokens of each label -> its index."""
        return {ids: k for k, ids in enumerate(self.labels)}

    @cached_property
    def forks(self) -> dict[Ids, Fork]:
        """By path, each behind the one it stands on."""
        found: dict[Ids, Fork] = {}
        paths: list[Ids] = [()]
        while paths:
            path = paths.pop()
            longer = [i for i in self.labels if len(i) > len(path) and i[: len(path)] == path]
            if longer:
                chains = _chains(path, longer, self.places)
                found[path] = Fork(path, chains, self.places.get(path))
                paths += [(*path, *chain) for chain in chains]
        return found

    @cached_property
    def asked(self) -> tuple[tuple[Ids, Ids], ...]:
        """(path, target) of every log-probability needed.

        Each chain; where several ways lead on, the first token of each, which is what greedy
        decoding compares; where a label could end, the tokens that may follow it.
        """
        pairs: dict[tuple[Ids, Ids], None] = {}
        for fork in self.forks.values():
            for chain in fork.chains:
                pairs[fork.path, chain] = None
                if len(fork.chains) > 1 or fork.label is not None:
                    pairs[fork.path, chain[:1]] = None
            if fork.label is not None:
                pairs |= {(fork.path, (stop,)): None for stop in self.stops}
        return tuple(pairs)

    def totals(self, nats: Nats) -> tuple[float, ...]:
        """[labels] log P that a reply begins with the label, and with no longer one of them."""
        reached: dict[Ids, float] = {(): 0.0}
        for path, fork in self.forks.items():
            for chain in fork.chains:
                reached[(*path, *chain)] = reached[path] + nats[path, chain]
        totals: dict[Ids, float] = {}
        for ids in sorted(self.labels, key=len, reverse=True):
            longer = [v for other, v in totals.items() if other[: len(ids)] == ids]
            share = 1 - math.fsum(math.exp(value - reached[ids]) for value in longer)
            totals[ids] = reached[ids] + (math.log(max(share, LEAST)) if longer else 0.0)
        return tuple(totals[ids] for ids in self.labels)


def _chains(path: Ids, labels: list[Ids], places: Mapping[Ids, int]) -> tuple[Ids, ...]:
    """One for each next token: as far as its labels agree, or the first of them ends."""
    groups: dict[int, list[Ids]] = {}
    for ids in labels:
        groups.setdefault(ids[len(path)], []).append(ids)
    chains = []
    for group in groups.values():
        first, last = min(group), max(group)
        length = len(path) + 1
        while first[:length] not in places and first[length] == last[length]:
            length += 1  # without a label that ends here, all of them have a next token
        chains.append(first[len(path) : length])
    return tuple(chains)


def choose(
    engine: Engine, questions: Sequence[tuple[Ids, Trie]]
) -> list[tuple[int, tuple[float, ...]]]:
    """Index of the label of each closed question, and ``Trie.totals`` of all its labels, nats.

    All are answered in one call of the engine, so that prompts share prefixes.

    The label is that of greedy decoding, which takes the likeliest token at each step, among the
    tokens that labels have: it is the one that the generated reply begins with, wherever that
    begins with a label. The likeliest label can be another one where labels have several tokens.
    Where one label begins another (1 and 10), the longer one is taken only if its next token is
    the likeliest of the whole vocabulary, as greedy decoding takes it.
    """
    jobs = [(prompt + path, target) for prompt, trie in questions for path, target in trie.asked]
    found = iter(engine.score(jobs).tolist())
    choices = []
    for prompt, trie in questions:
        nats = {pair: next(found) for pair in trie.asked}
        choices.append((_greedy(engine.model, prompt, trie, nats), trie.totals(nats)))
    return choices


def _greedy(model: Any, prompt: Ids, trie: Trie, nats: Nats) -> int:
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


def _goes_on(model: Any, prompt: Ids, trie: Trie, fork: Fork, chain: Ids, nats: Nats) -> bool:
    """Whether greedy decoding goes on from a label to a longer one; the model is asked at need."""
    tokens = dict.fromkeys([*(other[0] for other in fork.chains), *trie.stops])
    known = {t: nats[fork.path, (t,)] for t in tokens if (fork.path, (t,)) in nats}
    if known and known.get(chain[0], math.inf) < max(known.values()):
        return False  # something else is likelier
    if nats[fork.path, chain] > math.log(0.5):
        return True  # so is each of its tokens, and none can be likelier
    unknown = 1 - math.fsum(math.exp(value) for value in known.values())
    if len(chain) == 1 and math.exp(nats[fork.path, chain]) > unknown:
        return True  # all other tokens have less together
    return all(
        _likeliest(model, prompt + fork.path + chain[:place]) == token
        for place, token in enumerate(chain)
    )


def _likeliest(model: Any, context: Ids) -> int:
    """The token that greedy decoding puts behind the context, by one pass over all of it."""
    keep = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.forward).parameters else {}
    ids = torch.tensor([context], device=model.device)
    with torch.inference_mode():
        return int(model(input_ids=ids, use_cache=False, **keep).logits[0, -1].argmax())


def answer_closed(
    engine: Engine,
    tokenizer: Any,
    template: ChatTemplate,
    prompts: Sequence[str],
    requests: Sequence[ChatRequest],
) -> list[Reply]:
    """One of its labels for every request, with the log-probability of each.

    ``prompts`` are the requests as the model is to see them; ``template`` writes labels as replies.
    """
    coded = tokenizer(list(FOLLOWERS), add_special_tokens=False)["input_ids"]
    followers = {ids[0] for ids in coded if len(ids) == 1}
    stops = tuple(sorted(followers | set(end_tokens(engine.model, tokenizer))))
    asked = _encoded(Encoder(tokenizer, LabelText(template), end_token=False), prompts, requests)
    longest = positions(engine.model)
    questions: dict[int, tuple[Ids, Trie]] = {}
    replies: dict[int, Reply] = {}
    for index, jobs in enumerate(asked):
        # All labels follow what their contexts share: where tokens merge, they are the label's.
        start = min(len(context) for context, _ in jobs)
        prompt = jobs[0][0][:start]
        labels = tuple((context + target)[start:] for context, target in jobs)
        if longest is not None and len(prompt) + max(map(len, labels)) >= longest:
            reason = f"the prompt's {len(prompt)} tokens leave the model no room to answer"
            replies[index] = Reply(None, reason, settled=True)
        else:
            questions[index] = prompt, _trie(labels, stops)
    answers = choose(engine, list(questions.values()))
    for index, (best, nats) in zip(questions, answers, strict=True):
        texts, read = requests[index].labels, len(questions[index][0])
        scored = tuple(zip(texts, nats, strict=True))
        replies[index] = Reply(texts[best], None, read, 0, label_logprobs=scored)
    return [replies[index] for index in range(len(requests))]


def _encoded(
    encoder: Encoder, prompts: Sequence[str], requests: Sequence[ChatRequest]
) -> list[list[Job]]:
    """For each request the tokens of prompt and label, by label."""
    labels = list(dict.fromkeys(label for request in requests for label in request.labels))
    place = {label: index for index, label in enumerate(labels)}
    pairs = [(c, place[label]) for c, request in enumerate(requests) for label in request.labels]
    jobs = iter(encoder.encode(prompts, labels, pairs).jobs)
    found: list[list[Job]] = []
    for request in requests:
        row = [next(jobs) for _ in request.labels]
        found.append([job for job in row if job is not None])  # a rendered prompt is never empty
    return found


@lru_cache(maxsize=64)
def _trie(labels: tuple[Ids, ...], stops: Ids) -> Trie:
    if len(set(labels)) < len(labels) or not all(labels):
        raise ConfigError(
            "two of the allowed replies are the same tokens to this model, or one is empty: set "
            "mechanism.reply=generated."
        )
    return Trie(labels, stops)


class LabelText:
    """Contexts are rendered conversations already; a target is a reply, without what ends it."""

    controls = True
    guarded = False

    def __init__(self, template: ChatTemplate) -> None:
        self.template = template
        self._known: dict[str, str] = {}

    def context(self, text: str) -> str:
        """The text."""
        return text

    def target(self, text: str) -> str:
        """The reply, behind whatever the template writes before one (a space, in some)."""
        if text not in self._known:
            undefined = "P(label) is not defined: set mechanism.reply=generated"
            written = self.template.reply((), text, undefined)
            if text not in written:
                raise differs(undefined)
            self._known[text] = written[: written.index(text) + len(text)]
        return self._known[text]
