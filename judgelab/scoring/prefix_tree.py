"""What to run, in which order: a pure function of the token sequences, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Job = tuple[Ids, Ids]
"""(context tokens, target tokens): one log-probability. Both hold at least one token."""


@dataclass(frozen=True)
class Node:
    """A stretch of context that is encoded once for everything below it."""

    parent: int  # index of the stretch before it, -1 for none
    start: int  # position of its first token
    tokens: Ids  # its tokens, at least one

    @property
    def end(self) -> int:
        """Position after its last token."""
        return self.start + len(self.tokens)


@dataclass(frozen=True)
class Leaf:
    """A target on top of the node where its context ends."""

    node: int
    tokens: Ids

    @property
    def inputs(self) -> Ids:
        """What has to be fed: the last token only has to be predicted."""
        return self.tokens[:-1]


@dataclass(frozen=True)
class Bin:
    """What one forward pass holds; every node stands behind its parent, here or in earlier bins."""

    nodes: tuple[int, ...]
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class ScoringPlan:
    """A forest of contexts with targets on top, and the bins to run it in."""

    nodes: tuple[Node, ...]  # parents before children
    leaves: tuple[Leaf, ...]  # every distinct (context, target) once, in a canonical order
    # forward passes in order; each holds at most the token budget, or one segment
    bins: tuple[Bin, ...]
    children: list[list[int]]  # [nodes] the leaves directly on each node, in order of length
    leaf_of: tuple[int, ...]  # [jobs] index of the leaf that answers each job

    @cached_property
    def places(self) -> tuple[int, ...]:
        """[leaves + 1] where the tokens of each target begin among those of all, and the end."""
        return tuple(accumulate((len(leaf.tokens) for leaf in self.leaves), initial=0))

    def totals(self, tokens: NDArray[np.float64]) -> NDArray[np.float64]:
        """[jobs] sums over targets of [tokens] log-probabilities in the order of ``places``."""
        return np.add.reduceat(tokens, self.places[:-1])[list(self.leaf_of)]

    def path(self, node: int) -> list[int]:
        """Nodes from the root to ``node``, both included; [] for -1."""
        result: list[int] = []
        while node >= 0:
            result.append(node)
            node = self.nodes[node].parent
        return result[::-1]

    def job(self, leaf: int) -> Job:
        """All tokens before the target, and those of the target."""
        target = self.leaves[leaf]
        return tuple(i for n in self.path(target.node) for i in self.nodes[n].tokens), target.tokens


def make_plan(jobs: Sequence[Job], budget: int) -> ScoringPlan:
    """Distinct jobs as a prefix tree, cut into bins of at most ``budget`` tokens.

    Contexts that begin alike share the stretch, however many levels deep (template -> item ->
    response). The order of ``jobs`` changes only ``leaf_of``, no pass. Contexts longer than the
    budget are encoded in several passes, a longer target has a pass of its own.
    """
    nodes, ends = _forest(sorted({context for context, _ in jobs}), budget)
    distinct = {(ends[context], len(target), target) for context, target in jobs}
    leaves = [Leaf(node, target) for node, _, target in sorted(distinct)]
    index = {(leaf.node, leaf.tokens): i for i, leaf in enumerate(leaves)}
    children: list[list[int]] = [[] for _ in nodes]
    for i, leaf in enumerate(leaves):
        children[leaf.node].append(i)
    return ScoringPlan(
        nodes=tuple(nodes),
        leaves=tuple(leaves),
        bins=tuple(_bins(nodes, leaves, children, budget)),
        children=children,
        leaf_of=tuple(index[ends[context], target] for context, target in jobs),
    )


def _forest(contexts: list[Ids], budget: int) -> tuple[list[Node], dict[Ids, int]]:
    """Sorted distinct contexts as a radix tree in depth-first order; where each context ends."""
    nodes: list[Node] = []
    ends: dict[Ids, int] = {}
    stack = [(contexts, 0, -1)]  # contexts that agree on their first so many tokens
    while stack:
        group, depth, parent = stack.pop()
        shared = common(group[0], group[-1])
        for start in range(depth, shared, budget):
            nodes.append(Node(parent, start, group[0][start : min(start + budget, shared)]))
            parent = len(nodes) - 1
        if len(group[0]) == shared:
            ends[group[0]] = parent
            group = group[1:]
        parts = [list(part) for _, part in groupby(group, itemgetter(shared))]
        stack.extend((part, shared, parent) for part in reversed(parts))
    return nodes, ends


def common(a: Ids, b: Ids) -> int:
    """How many first tokens they share."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (left, right) in pairs if left != right), min(len(a), len(b)))


def _bins(nodes: list[Node], leaves: list[Leaf], on: list[list[int]], budget: int) -> Iterable[Bin]:
    """Depth first: a node, the targets on it, then its children; cut where the budget ends."""
    size = 0
    bin_nodes: list[int] = []
    bin_leaves: list[int] = []
    for n, node in enumerate(nodes):
        # one-token targets need no pass: the node's last state predicts them
        fed = [(bin_leaves, i, len(leaves[i].inputs)) for i in on[n] if leaves[i].inputs]
        for members, index, length in [(bin_nodes, n, len(node.tokens)), *fed]:
            if size and size + length > budget:
                yield Bin(tuple(bin_nodes), tuple(bin_leaves))
                size = 0
                bin_nodes.clear()
                bin_leaves.clear()
            members.append(index)
            size += length
    if size:
        yield Bin(tuple(bin_nodes), tuple(bin_leaves))
