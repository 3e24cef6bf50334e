"""Call caches damaged on purpose: no wrong answer may be served, whatever became of the file.

``python -m tests.check_faults cache`` turns bits of a real cache over, cuts it at random places and
asks every question again.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.core.errors import DataError
from tests.scripted import ScriptedChat, ScriptedLogProb, ask

WORDS = ("harbour", "fog", "bell", "keeper", "tide", "lamp", "stair", "crew", "log", "storm")
RIGHT, AGAIN, REFUSED, WRONG = "every row right", "rows asked again", "refused", "WRONG ANSWER"


Truth = dict[bytes, str]  # answers by key, as they must be read back


def make(file: Path, rows: int = 175) -> Truth:
    """A cache as runs leave it: log-probabilities, replies."""
    rng = random.Random(0)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(5, 60))) for _ in range(rows)]
    scores = CachedLM(ScriptedLogProb(lambda c, t: -rng.expovariate(0.01)), CallCache(file))
    scores.logprob(texts, texts, [(k, (k * 7) % rows) for k in range(rows)])
    scores.close()
    chat = CachedLM(ScriptedChat(lambda r: r.messages[0].content.upper()), CallCache(file))
    chat.chat([ask(text) for text in texts])
    chat.close()
    cache = CallCache(file)
    truth = cache.get(_keys(file))
    cache.close()
    assert len(truth) == 2 * rows
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
    for _ in range(2):
        try:
            found = _ask(file, truth)
        except DataError:
            return REFUSED
        if found == WRONG:
            return WRONG
        said = AGAIN if found == AGAIN and said == RIGHT else said
    return said if found == RIGHT else "not repaired"


def _ask(file: Path, truth: Truth) -> str:
    cache = CallCache(file)
    try:
        answers = cache.get({*truth, *_keys(file)})
        if not answers.items() <= truth.items():
            return WRONG
        cache.add(truth)
        return AGAIN if len(answers) < len(truth) else RIGHT
    finally:
        cache.close()


def _keys(file: Path) -> list[bytes]:
    """Every key that the file holds, as far as SQLite can read it."""
    keys: list[object] = []
    with closing(sqlite3.connect(file)) as db, suppress(sqlite3.Error):
        db.text_factory = bytes
        for row in db.execute("SELECT key FROM answer"):
            keys += row
    return [key for key in keys if isinstance(key, bytes)]


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
