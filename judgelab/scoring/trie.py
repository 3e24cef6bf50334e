"""Labels as a tree of tokens: where they part, and what has to be asked to tell them apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from judgelab.scoring.prefix_tree import Ids

LEAST = 1e-15  # of a label's own probability, what is left where longer labels have all but all


@dataclass(frozen=True)
class Fork:
    """A place where labels part, or where one ends and another goes on (or the beginning).

    Attributes:
        path: tokens from the prompt to here.
        chains: the ways on, each up to the next fork or to the end of a label.
        label: index of the label whose tokens are ``path``; None where no label ends here.
    """

    path: Ids
    chains: tuple[Ids, ...]
    label: int | None


@dataclass(frozen=True)
class Trie:
    """Labels that a reply may begin with.

    Args:
        labels: tokens of each, all different, none empty.
        stops: tokens that end a reply, and such as may follow a label: where one label begins
            another, they tell at no cost that a reply does not go on to the longer one.
    """

    labels: tuple[Ids, ...]
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

    def totals(self, nats: Mapping[tuple[Ids, Ids], float]) -> tuple[float, ...]:
        """[labels] log P that a reply begins with the label, and with no longer one of them.

        Args:
            nats: the answers to ``asked``.
        """
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
