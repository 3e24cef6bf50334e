"""A wrapper that asks every question once, whichever jobs ask it."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from judgelab.calls.batch import Answer, Batch, BatchLM, is_missing
from judgelab.calls.cache import CallCache, rows_of
from judgelab.calls.log import CallLog, LoggedLM
from judgelab.calls.meter import Meter
from judgelab.core.lm import NOT_ASKED, EvaluationLM, LogProb, Reply
from judgelab.core.panel import HALVED, halved
from judgelab.store.private import Owner

REPLY = TypeAdapter(Reply)
POLL = 0.2  # seconds between looks for an answer that another job is waiting for


class Watch:
    """Follows the calls of a run; this one does nothing."""

    def begin_batch(self, calls: int, hits: int, *, one_item: bool = False) -> None:
        """A batch of so many different calls began, of a stage or of one item of it; ``hits`` of
        them were known."""

    def advance(self, calls: int) -> None:
        """So many more have been answered."""


class CachedLM(LoggedLM):
    """``lm`` behind a call cache; identical questions in one batch are asked once too.

    What is settled is kept; a call that failed is asked again by a later run (a paid one: not by
    this one). What a streaming LM answers is kept the moment it arrives, and its questions are
    claimed before they are asked: a job that finds one claimed waits for the answer of the job that
    asks it, or takes over when that job ends without one.
    """

    def __init__(
        self,
        lm: EvaluationLM,
        cache: CallCache,
        watch: Watch | None = None,
        log: CallLog | None = None,
        role: str = "evaluation_lm",
        meter: Meter | None = None,
    ) -> None:
        super().__init__(lm, log, role)
        self.cache, self.meter = cache, meter  # no meter where calls cost nothing
        self.count = {"asked": 0, "computed": 0}  # answers, and those that were not known
        self._unscored: dict[bytes, Any] = {}
        self._computed, self._again = set[bytes](), set[bytes]()
        self._watch = watch or Watch()
        self._workers: dict[str, Mapping[str, Any]] = {}
        self._claims = None if lm.streaming is None else Claims(cache)
        if lm.streaming is not None:
            lm.streaming.keep(cache.path)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The wrapped LM's; where workers answered, theirs, by worker."""
        return {"workers": dict(self._workers)} if self._workers else self.lm.facts

    @property
    def models(self) -> Counter[str]:
        """What answered, as servers call it -> calls; 0 where only attempts are known by name."""
        return super().models or Counter(dict.fromkeys(self.meter.models if self.meter else (), 0))

    def account(self) -> dict[str, Any]:
        """Who it was, how scoring went, what was asked and what it cost; for the manifest."""
        account: dict[str, Any] = {"evaluation_lm": self.identity, "facts": dict(self.facts)}
        account["calls"] = dict(self.count)
        if self.cache.damaged:
            account["damaged_rows"] = len(self.cache.damaged)
        if self.meter is not None:
            account["meter"] = self.meter.summary()
        return account

    def note_worker(self, name: str, facts: Mapping[str, Any]) -> None:
        """What a worker says of its answers so far."""
        self._workers[name] = facts

    def ask_again(self, keys: Iterable[bytes]) -> None:
        """Ask these once more, but for those just asked."""
        self._again = set(keys) - self._computed

    def answers(self, batch: Batch) -> Sequence[Any]:
        """As the wrapped LM; only questions never answered before reach it, all of them texts."""
        keys = batch.keys(self.identity)
        bad = set(filter(halved, {text for k in range(len(keys)) for text in batch.texts(k)}))
        for k, key in enumerate(keys) if bad else ():
            if not bad.isdisjoint(batch.texts(k)):
                self._unscored[key] = batch.absent(HALVED, settled=True)
        by_key = self._fill(keys, batch)
        answers = [by_key[key] for key in keys]
        self._note(batch, keys, answers)
        return answers

    def answers_to(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Of these keys, those with an answer: kept, or accepted unscored in this run."""
        unscored = {key: self._unscored[key] for key in keys if key in self._unscored}
        rest = (key for key in keys if key not in self._again and key not in unscored)
        return unscored | known_answers(self.cache, rest)

    def accept(self, fresh: Mapping[bytes, Answer], remember: bool = True) -> None:
        """Keep and count answers, by key; unscored ones, if remembered, last this run."""
        rows = dict[bytes, str]()
        for key, answer in fresh.items():
            unscored = is_missing(answer)
            costly = isinstance(answer, Reply) or self._claims is not None
            if not unscored or (answer.settled and costly):  # why there is no result is kept, too
                rows[key] = _as_json(answer)
            if unscored and remember:
                self._unscored[key] = answer
        if rows:
            self.cache.add(rows, self._again)
        self._computed |= rows.keys()
        self._again -= self._computed
        self.count["computed"] += len(fresh)
        self._watch.advance(len(fresh))

    def close(self) -> None:
        """Close the LM and the cache."""
        self.lm.close()
        if self._claims is not None:
            self._claims.close()
        self.cache.close()

    def _fill(self, keys: Sequence[bytes], batch: Batch) -> dict[bytes, Any]:
        """The answer to every key: known, asked for now, or awaited from another job."""
        place = {key: k for k, key in enumerate(keys)}
        answers = self.answers_to(place)
        self.count["asked"] += len(keys)
        self._watch.begin_batch(len(place), len(answers), one_item=batch.verb == "logprob")
        while missing := [key for key in place if key not in answers]:
            mine = missing if self._claims is None else self._claims.take(missing)
            try:
                if self._claims is not None:  # may have been answered before we claimed it
                    others = self.answers_to(missing)
                    answers |= others
                    self._watch.advance(len(others))
                asking = [key for key in mine if key not in answers]
                rest = batch.at(place[key] for key in asking)
                for part in rest.parts(self.lm) if asking else ():
                    fresh = {asking[index]: answer for index, answer in part.items()}
                    # to ask for a paid one again may be to pay again
                    self.accept(fresh, remember=self._claims is not None)
                    answers |= fresh
            finally:
                if self._claims is not None:
                    self._claims.drop(mine)
            if len(mine) < len(missing):
                time.sleep(POLL)  # another job is asking the rest
        return answers


def _as_json(answer: Answer) -> str:
    """As the cache keeps it; what only some replies have is left out of the others."""
    if isinstance(answer, LogProb):
        return json.dumps(answer)
    values = asdict(answer).items()
    return json.dumps({k: v for k, v in values if v not in (None, ()) and v is not False})


def known_answers(cache: CallCache, keys: Iterable[bytes]) -> dict[bytes, Any]:
    """The answers that the cache holds to these keys."""
    rows = {key: json.loads(text) for key, text in cache.get(keys).items()}
    return {
        key: LogProb(*v) if isinstance(v, list) else REPLY.validate_python({"text": None, **v})
        for key, v in rows.items()
    }


class Claims:
    """Claims on the keys of a call cache, held by processes of one machine.

    A claim lasts until it is dropped or its owner is gone, kill -9 included.
    """

    def __init__(self, cache: CallCache) -> None:
        self._cache = cache
        self._mark = Owner(cache.path.with_name(f"{cache.path.name}.owners"))
        self._owner = self._mark.name

    def take(self, keys: Sequence[bytes]) -> list[bytes]:
        """Claim what no living process has claimed; returns those of ``keys`` that are ours now."""
        with self._cache.transaction() as db:
            own = [(key, self._owner) for key in keys]
            db.executemany("INSERT OR IGNORE INTO claim VALUES (?, ?)", own)
            rows = rows_of(db, "SELECT key, owner FROM claim", keys)
            owners = {key: (owner or b"").decode(errors="replace") for key, owner in rows}
            for owner in {o for o in owners.values() if not self._mark.lives(o)}:
                orphans = [key for key, holder in owners.items() if holder == owner]
                heirs = [(self._owner, key) for key in orphans]
                db.executemany("UPDATE claim SET owner = ? WHERE key = ?", heirs)
                owners |= dict.fromkeys(orphans, self._owner)
        return [key for key in keys if owners.get(key, self._owner) == self._owner]

    def drop(self, keys: Sequence[bytes]) -> None:
        """Give up our claims on these keys."""
        with self._cache.transaction() as db:
            own = [(key, self._owner) for key in keys]
            db.executemany("DELETE FROM claim WHERE key = ? AND owner = ?", own)

    def close(self) -> None:
        """Give up all claims."""
        with self._cache.transaction() as db:
            db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))
        self._mark.close()


@dataclass
class StageTally:
    """Different calls of a stage; kinds and tokens are of those that the cache cannot answer."""

    calls: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # pair, chat, closed -> calls
    input_tokens: int = 0  # estimated
    output_tokens: int = 0  # at most

    @property
    def to_ask(self) -> int:
        """Calls that the cache cannot answer."""
        return self.kinds.total()


class CountingLM(BatchLM):
    """``lm`` by name only: known answers come from the cache, all others are absent.

    Attributes:
        cache: where answers may be known; None where there is no cache yet.
        stages, total: what would be asked in each, in all; a call counts where it is put first.
        keys: of the different calls, in the order in which they were put.
        trials: kind of a call -> its first batch that the cache does not answer.
    """

    def __init__(self, lm: EvaluationLM, cache: CallCache | None = None) -> None:
        super().__init__(lm)
        self.cache, self.trials = cache, dict[str, Batch]()
        self.stages, self.total = dict[str, StageTally](), StageTally()
        self._tallies, self.keys = [self.total], dict[bytes, None]()

    unread, about = EvaluationLM.unread, EvaluationLM.about  # nothing is noted: this is no run

    def begin(self, stage: str) -> None:
        """What is asked from now on belongs to this stage."""
        self._tallies = [self.total, self.stages.setdefault(stage, StageTally())]

    def answers(self, batch: Batch) -> Sequence[Any]:
        """Known answers; none to all others."""
        keys, kinds = batch.keys(self.identity), dict[str, list[int]]()
        answers = known_answers(self.cache, keys) if self.cache else {}
        for k, key in enumerate(keys):
            call = batch.call(k, "")
            if key not in answers:
                kinds.setdefault(call.kind, []).append(k)
            for tally in self._tallies if key not in self.keys else ():
                tally.calls += 1
                if key not in answers:
                    tally.kinds[call.kind] += 1
                    tally.input_tokens += call.input_tokens
                    tally.output_tokens += call.output_tokens
            self.keys[key] = None
        for kind, places in kinds.items():
            self.trials.setdefault(kind, batch.at(places))
        return [answers.get(key) or batch.absent(NOT_ASKED) for key in keys]

    def close(self) -> None:
        """Close the cache."""
        if self.cache is not None:
            self.cache.close()
