"""Replies made to take long to read: ``python -m tests.hostile_replies [COUNT]``.

Each is a few fragments repeated to up to a megabyte, between a beginning and an end; fragments are
what the patterns of ``core.reply`` look for, so that a pattern which can match a run in several
ways is found by its time.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator

from judgelab.core.reply import read_choice
from judgelab.core.reply.grade import no_grade, stated_grade
from judgelab.core.reply.label import no_label, stated_label

LIMIT = 0.1  # seconds of computing that one reader may take for one reply
LABELS = {"a": 1.0, "b": 0.0, "c": 0.5}
FRAGMENTS = (
    *("1 ", "1", "12,", "4.5 ", "1-5 ", "1 or ", "3/", "(1-5", "1: a\n", "-\n", "|\n", "> ", "_"),
    *("[[", "]]", "[[A", "\n", "\n\n", " \n", "\t", " ", "\u00a0", "(", ")", '"', "{", "}", "*"),
    *('{"a":', '{"score":', '"a":1,', "[", "\\boxed{", "<think>", "</think>", "</thinking>", "<a>"),
    *("<score>", "</score>", "<|", "|>", "<s>", "###", "\n## human", "answer ", "answer (", "A "),
    *("the winner is ", "better ", "is ", "not ", "A is better. ", "score of ", "give ", "rating:"),
    *("overall (", "scale of ", "from 1 to ", "out of ", "word ", "a", "x1", "prose, and so on. "),
    *("\ufdfa", "\uff11", "\u0662", "\ud800", "é", "\u2028", "\\n", "if ", "\\W", "4%", "A/", "--"),
)


def hostile(count: int, seed: int = 0) -> Iterator[str]:
    """That many, the known ones first."""
    yield from ("1 " * 30_000, "x " * 500_000, "[[" + "\n" * 6000 + "A", "\ufdfa" * 200_000)
    draw = random.Random(seed)
    for _ in range(count - 4):
        parts = [draw.choice(FRAGMENTS) for _ in range(draw.randint(1, 4))]
        size = int(10 ** draw.uniform(2, 6))
        unit = "".join(parts[:-1]) or parts[0]
        if draw.random() < 0.3:
            body = "".join(draw.choices(FRAGMENTS, k=min(size, 200_000)))
        else:
            body = unit * max(1, size // len(unit))
        yield (draw.choice(FRAGMENTS) + body[:size] + parts[-1])[:1_000_000]


READERS: dict[str, Callable[[str], object]] = {
    "grade": lambda text: stated_grade(text, 1, 5),
    "label": lambda text: stated_label(text, LABELS),
    "choice": lambda text: read_choice(text, LABELS, "last"),
    "no grade": lambda text: no_grade(text, 1, 5),
    "no label": lambda text: no_label(text, LABELS),
}


def slow(count: int, seed: int = 0) -> list[tuple[float, str, str]]:
    """(seconds, reader, beginning of the reply) of those that take longer than ``LIMIT``."""
    found = []
    for text in hostile(count, seed):
        for name, read in READERS.items():
            begun = time.process_time()
            read(text)
            if (took := time.process_time() - begun) > LIMIT:
                found.append((took, name, f"{len(text)}: {text[:40]!r}"))
    return sorted(found, reverse=True)


if __name__ == "__main__":
    for took, name, text in slow(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)[:40]:
        print(f"{took:.2f} s {name} {text}")
