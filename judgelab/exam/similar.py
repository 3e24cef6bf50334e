"""The other source of a dataset that is most like a given one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"\w+")


def most_similar(sources: Sequence[str]) -> NDArray[np.int64]:
    """[sources] number of the nearest other source by the cosine of tf-idf; -1 without any.

    Sources that are equal up to case and spaces are no other questions and never chosen; sources
    that share no word with any other get -1.
    """
    words = [Counter(WORD.findall(source.lower())) for source in sources]
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(w for one in words for w in one))}
    counts = np.zeros((len(sources), len(vocabulary)))
    for row, one in enumerate(words):
        for word, count in one.items():
            counts[row, vocabulary[word]] = count
    rarity = np.log((1 + len(sources)) / (1 + (counts > 0).sum(axis=0))) + 1
    vectors = np.log1p(counts) * rarity
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    likeness = vectors @ vectors.T
    plain = [" ".join(source.lower().split()) for source in sources]
    same = np.array([[a == b for b in plain] for a in plain], dtype=np.bool_)
    likeness[same.reshape(likeness.shape)] = 0.0
    if not len(sources):
        return np.zeros(0, dtype=np.int64)
    return np.where(likeness.max(axis=1) > 0, likeness.argmax(axis=1), -1).astype(np.int64)
