"""Call caches damaged on purpose: no wrong answer may be served, whatever became of the file.

``python -m tests.cache_damage --flips 400 --cuts 200`` turns single bits of a real cache over, cuts
it at random places, asks every question again and prints what came of it.
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.calls.prompts import PromptCache, ScoredPrompt
from judgelab.core.errors import DataError
from judgelab.core.lm import ChatRequest, LogProb, Message
from tests.scripted import ScriptedChat, ScriptedLogProb

WORDS = ("harbour", "fog", "bell", "keeper", "tide", "lamp", "stair", "crew", "log", "storm")
ENDPOINT = "an endpoint"
RIGHT, AGAIN, REFUSED, WRONG = "every row right", "rows asked again", "refused", "WRONG ANSWER"


@dataclass(frozen=True)
class Truth:
    """What was stored, as it must be read back."""

    logprobs: dict[bytes, LogProb]
    chats: dict[bytes, str]
    prompts: dict[str, ScoredPrompt]
    lms: list[str]


def make(file: Path, rows: int = 150) -> Truth:
    """A cache as runs leave it: log-probabilities, replies, scored prompts, LMs."""
    rng = random.Random(0)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(5, 60))) for _ in range(rows)]
    scores = Cached(ScriptedLogProb(lambda c, t: -rng.expovariate(0.01)), CallCache(file))
    scores.logprob(texts, texts, [(k, (k * 7) % rows) for k in range(rows)])
    scores.close()
    chat = Cached(ScriptedChat(lambda r: r.messages[0].content.upper()), CallCache(file))
    chat.chat([ChatRequest((Message("user", text),)) for text in texts])
    chat.close()
    beside = PromptCache(file, ENDPOINT)
    prompts = {
        text: ScoredPrompt(tuple(text.split()), (None, *(-rng.random() for _ in text.split()[1:])))
        for text in texts[: rows // 3]
    }
    for text, scored in prompts.items():
        beside.put(text, scored)
    beside.close()
    cache = CallCache(file)
    everything = _keys(file)
    truth = Truth(cache.logprobs(everything), cache.chats(everything), prompts, cache.lms())
    cache.close()
    assert (len(truth.logprobs), len(truth.chats)) == (rows, rows + rows // 3)
    return truth


def flip(file: Path, rng: random.Random) -> None:
    """One bit of the file turned over."""
    data = bytearray(file.read_bytes())
    place = rng.randrange(8 * len(data))
    data[place // 8] ^= 1 << place % 8
    file.write_bytes(data)


def cut(file: Path, rng: random.Random) -> None:
    """The file without its end: a few bytes of it, or any part."""
    size = file.stat().st_size
    keep = size - rng.randint(1, 300) if rng.random() < 0.3 else rng.randrange(size)
    with file.open("r+b") as handle:
        handle.truncate(keep)


def outcome(file: Path, truth: Truth) -> str:
    """What came of asking everything of a damaged file, answering what it lacks, asking again.

    Also of keys that the file has and nobody asked: a bit turned over in one must not make one
    question's answer another's.
    """
    said = RIGHT
    for read_only in (True, False, False):
        try:
            found = _ask(file, truth, read_only)
        except DataError:
            return REFUSED
        if found == WRONG:
            return WRONG
        said = AGAIN if found == AGAIN and said == RIGHT else said
    return said if found == RIGHT else "not repaired"


def _ask(file: Path, truth: Truth, read_only: bool) -> str:
    cache = CallCache(file, read_only)
    beside = PromptCache(file, ENDPOINT)
    try:
        keys = list({*truth.logprobs, *truth.chats, *_keys(file)})
        logprobs, chats = cache.logprobs(keys), cache.chats(keys)
        if not (_within(logprobs, truth.logprobs) and _within(chats, truth.chats)):
            return WRONG
        if not set(cache.lms()) <= set(truth.lms):
            return WRONG
        lost = len(logprobs) < len(truth.logprobs) or len(chats) < len(truth.chats)
        if read_only:
            return AGAIN if lost else RIGHT
        for text, scored in truth.prompts.items():
            known = beside.get(text)
            if known not in (None, scored):
                return WRONG
            if known is None:
                beside.put(text, scored)
        cache.add_logprobs({k: v for k, v in truth.logprobs.items() if k not in logprobs})
        cache.add_chats({k: v for k, v in truth.chats.items() if k not in chats})
        return AGAIN if lost else RIGHT
    finally:
        cache.close()
        beside.close()


def _within(found: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    return all(right.get(key) == value for key, value in found.items())


def _keys(file: Path) -> list[bytes]:
    """Every key that the file holds, as far as SQLite can read it."""
    found: list[bytes] = []
    db = sqlite3.connect(file)
    db.text_factory = bytes
    for table in ("logprob", "chat"):
        try:
            found += [key for (key,) in db.execute(f"SELECT key FROM {table}")]
        except sqlite3.Error:
            continue
    db.close()
    return [key for key in found if isinstance(key, bytes)]


def trial(
    file: Path, truth: Truth, damage: Callable[[Path, random.Random], None], times: int, seed: int
) -> Counter[str]:
    """How often each came of it."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            hurt = Path(folder) / f"{number}.sqlite"
            shutil.copy(file, hurt)
            damage(hurt, rng)
            found[outcome(hurt, truth)] += 1
            for path in Path(folder).glob(f"{number}.sqlite*"):
                path.unlink()
    return found


def main() -> None:
    """Print the table of both trials; exit code 1 where a wrong answer was served."""
    logging.getLogger("judgelab").setLevel(logging.ERROR)  # each file says that it is damaged
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=400)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "calls.sqlite"
        truth = make(file)
        size = file.stat().st_size
        print(f"a cache of {size} bytes: {len(truth.logprobs)} sums, {len(truth.chats)} replies")
        for name, damage, times in (("flips", flip, given.flips), ("cuts", cut, given.cuts)):
            found = trial(file, truth, damage, times, given.seed)
            print(f"{times} {name}: " + ", ".join(f"{n} {said}" for said, n in found.most_common()))
            wrong += found[WRONG]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
