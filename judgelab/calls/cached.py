"""A wrapper that asks every question once, whichever jobs ask it."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from judgelab.calls.cache import CallCache, rows_of
from judgelab.calls.log import CallLog, LoggedCall, LoggedLM, Verb, chat_key, logprob_keys
from judgelab.calls.meter import Meter
from judgelab.calls.sending import UNBOUNDED, estimate
from judgelab.core.exchange import closed_batches, open_questions
from judgelab.core.lm import (
    NOT_ASKED,
    UNKNOWN,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    Strings,
)
from judgelab.core.panel import HALVED, halved
from judgelab.store.private import Owner

SLICE = 8  # requests put to a local LM at once, to begin with
WORTH = 30.0  # seconds of a local LM's answers that a kill may cost, about
POLL = 0.2  # seconds between looks for an answer that another job is waiting for

Q = TypeVar("Q")  # what is asked: a pair, or a request
Answer = LogProb | Reply


class Watch:
    """Follows the calls of a run; this one does nothing."""

    def asked(self, calls: int, hits: int, *, one_item: bool = False) -> None:
        """A batch of so many different calls began, of a stage or of one item of it; ``hits`` of
        them were known."""

    def answered(self, calls: int) -> None:
        """So many more have been answered."""


class Cached(LoggedLM):
    """``lm`` behind a call cache; identical questions in one batch are asked once too.

    A key is the hash of all that can change an answer, and of nothing else. What is settled is
    kept; a call that failed is asked again by a later run (a paid one: not by this one).

    What a streaming LM answers is kept the moment it arrives, and its questions are claimed
    before they are asked: a job that finds one claimed waits for the answer of the job that asks
    it, or takes over when that job ends without one.

    Args:
        meter: of its paid calls; None where calls cost nothing.
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
        self.cache, self.meter = cache, meter
        self.count = {"asked": 0, "computed": 0}  # answers, and those that were not known
        self._unscored: dict[bytes, Any] = {}
        self._computed, self._again = set[bytes](), set[bytes]()
        self._watch = watch or Watch()
        self._workers: dict[str, Mapping[str, Any]] = {}
        self._streaming = lm.streaming
        self._claims = None if self._streaming is None else Claims(cache)
        if self._streaming is not None:
            self._streaming.keep(cache.path)

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
            account["damaged_rows"] = self.cache.damaged
        if self.meter is not None:
            account["meter"] = self.meter.summary()
        return account

    def note_worker(self, name: str, facts: Mapping[str, Any]) -> None:
        """What a worker says of its answers so far."""
        self._workers[name] = facts

    def ask_again(self, keys: Iterable[bytes]) -> None:
        """Ask these once more, but for those just asked."""
        self._again = set(keys) - self._computed

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """As the wrapped LM; only pairs never seen before reach it, and no text that is none."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        bad_x = {c for c in {c for c, _ in pairs} if halved(contexts[c])}
        bad_y = {t for t in {t for _, t in pairs} if halved(targets[t])}
        bad = (k for k, (c, t) in zip(keys, pairs, strict=True) if c in bad_x or t in bad_y)
        self._unscored.update(dict.fromkeys(bad, LogProb(math.nan, 0, HALVED, settled=True)))

        def ask(missing: list[tuple[int, int]]) -> Iterator[dict[int, LogProb]]:
            if self._streaming is not None:
                for index, row in self._streaming.stream_logprob(contexts, targets, missing):
                    yield {index: row}
            else:
                yield dict(enumerate(self.lm.logprob(contexts, targets, missing).rows))

        known = self._fill(keys, pairs, ask, one_item=True)
        rows = [known[key] for key in keys]
        self._note_pairs(keys, contexts, targets, pairs, rows)
        return LogProbTable(rows)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """As the wrapped LM; only questions never answered before reach it, all of them texts."""
        keys = [chat_key(self.identity, request) for request in requests]
        for key, request in zip(keys, requests, strict=True):
            if any(halved(message.content) for message in request.messages):
                self._unscored[key] = Reply(None, HALVED, settled=True)

        def ask(missing: list[ChatRequest]) -> Iterator[dict[int, Reply]]:
            if self._streaming is not None:
                for index, reply in self._streaming.stream_chat(missing):
                    yield {index: reply}
            else:
                yield from _slices(self.lm, missing)

        known = self._fill(keys, requests, ask, one_item=False)
        replies = [known[key] for key in keys]
        self._note_requests(keys, requests, replies)
        return replies

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Of these keys, those with an answer: kept, or accepted unscored in this run."""
        unscored = {key: self._unscored[key] for key in keys if key in self._unscored}
        rest = (key for key in keys if key not in self._again and key not in unscored)
        return unscored | known_answers(self.cache, rest)

    def accept(self, verb: Verb, question: Sequence[Any], answer: Any) -> None:
        """Take what a worker's LM answered to a call; what has no result lasts this run.

        Args:
            question: the arguments of the call.
            answer: what it returned.
        """
        if verb == "logprob":
            keys, answers = logprob_keys(self.identity, *question), answer.rows
        else:
            keys, answers = [chat_key(self.identity, one) for one in question[0]], answer
        self._accept(dict(zip(keys, answers, strict=True)))

    def _accept(self, fresh: Mapping[bytes, Answer], remember: bool = True) -> None:
        """Kept and counted; unscored ones last this run: to ask again may be to pay again."""
        kept = dict[bytes, str]()
        for key, answer in fresh.items():
            unscored = (
                answer.text is None if isinstance(answer, Reply) else math.isnan(answer.total)
            )
            paid = isinstance(answer, Reply) or self._claims is not None
            if not unscored or (answer.settled and paid):  # why there is no result is kept, too
                kept[key] = _stored(answer)
            if unscored and remember:
                self._unscored[key] = answer
        if kept:
            self.cache.add(kept, self._again)
        self._computed |= kept.keys()
        self._again -= self._computed
        self.count["computed"] += len(fresh)
        self._watch.answered(len(fresh))

    def close(self) -> None:
        """Close the LM and the cache."""
        self.lm.close()
        if self._claims is not None:
            self._claims.close()
        self.cache.close()

    def _fill(
        self,
        keys: Sequence[bytes],
        questions: Sequence[Q],
        ask: Callable[[list[Q]], Iterator[Mapping[int, Answer]]],
        one_item: bool,
    ) -> dict[bytes, Any]:
        """The answer to every key: known, asked for now, or awaited from another job."""
        wanted = dict(zip(keys, questions, strict=True))
        known = self.known(wanted)
        self.count["asked"] += len(keys)
        self._watch.asked(len(wanted), len(known), one_item=one_item)
        while missing := [key for key in wanted if key not in known]:
            mine = missing if self._claims is None else self._claims.take(missing)
            try:
                if self._claims is not None:  # may have been answered before we claimed it
                    found = self.known(missing)
                    known |= found
                    self._watch.answered(len(found))
                asking = [key for key in mine if key not in known]
                for part in ask([wanted[key] for key in asking]) if asking else ():
                    fresh = {asking[index]: answer for index, answer in part.items()}
                    self._accept(fresh, remember=self._claims is not None)
                    known |= fresh
            finally:
                if self._claims is not None:
                    self._claims.drop(mine)
            if len(mine) < len(missing):
                time.sleep(POLL)  # another job is asking the rest
        return known


def _slices(lm: EvaluationLM, requests: list[ChatRequest]) -> Iterator[dict[int, Reply]]:
    """A local LM's replies, an item's closed questions or ``WORTH`` seconds' worth at a time."""
    for batch in closed_batches(requests):
        replies = lm.chat([requests[index] for index in batch])
        yield dict(zip(batch, replies, strict=True))
    rest = open_questions(requests)
    start, size = 0, SLICE
    while start < len(rest):
        begun, part = time.monotonic(), rest[start : start + size]
        replies = lm.chat([requests[index] for index in part])
        took = max(time.monotonic() - begun, 1e-3)
        yield dict(zip(part, replies, strict=True))
        start += len(part)
        size = max(1, min(2 * size, int(len(part) * WORTH / took)))


def _stored(answer: Answer) -> str:
    """As the cache keeps it; what only some replies have is left out of the others."""
    if isinstance(answer, LogProb):
        return json.dumps(answer)
    values = asdict(answer).items()
    return json.dumps({k: v for k, v in values if v not in (None, ()) and v is not False})


def answer_from(stored: str) -> Answer:
    """The answer that the cache keeps so."""
    values = json.loads(stored)
    if isinstance(values, list):
        return LogProb(*values)
    top = tuple(tuple(map(tuple, token)) for token in values.pop("top_logprobs", ()))
    labels = tuple(map(tuple, values.pop("label_logprobs", ())))
    return Reply(**{"text": None, **values}, top_logprobs=top, label_logprobs=labels)


def known_answers(cache: CallCache, keys: Iterable[bytes]) -> dict[bytes, Any]:
    """The answers that the cache holds to these keys."""
    return {key: answer_from(stored) for key, stored in cache.get(keys).items()}


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
            db.executemany(
                "INSERT OR IGNORE INTO claim VALUES (?, ?)", [(key, self._owner) for key in keys]
            )
            rows = rows_of(db, "SELECT key, owner FROM claim", keys)
            owners = {key: (owner or b"").decode(errors="replace") for key, owner in rows}
            for owner in {o for o in owners.values() if not self._mark.lives(o)}:
                orphans = [key for key, held in owners.items() if held == owner]
                db.executemany(
                    "UPDATE claim SET owner = ? WHERE key = ?", [(self._owner, k) for k in orphans]
                )
                owners |= dict.fromkeys(orphans, self._owner)
        return [key for key in keys if owners.get(key, self._owner) == self._owner]

    def drop(self, keys: Sequence[bytes]) -> None:
        """Give up our claims on these keys."""
        with self._cache.transaction() as db:
            db.executemany(
                "DELETE FROM claim WHERE key = ? AND owner = ?", [(k, self._owner) for k in keys]
            )

    def close(self) -> None:
        """Give up all claims."""
        with self._cache.transaction() as db:
            db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))
        self._mark.close()


@dataclass(frozen=True)
class StageTally:
    """Different calls, of one stage or of all."""

    calls: int
    hits: int  # those the cache can answer
    input_tokens: int  # of the others, estimated
    output_tokens: int  # of the others, at most
    chats: int  # of the others, chat calls whose replies are generated
    closed: int  # of the others, chat calls with labels, of which nothing is generated

    @classmethod
    def of(cls, rows: Collection[LoggedCall]) -> StageTally:
        """Of calls that would be made."""
        new = [row for row in rows if not row.known]
        closed = sum(row.labels for row in new)
        return cls(
            calls=len(rows),
            hits=len(rows) - len(new),
            input_tokens=sum(row.input_tokens for row in new),
            output_tokens=sum(row.output_tokens for row in new),
            chats=sum(row.verb == "chat" for row in new) - closed,
            closed=closed,
        )


class Counted(LoggedLM):
    """``lm`` by name only: known answers come from the cache, all others are absent.

    Attributes:
        cache: where answers may be known; None where there is no cache yet.
        pairs: contexts, targets and pairs of the first batch that the cache does not answer; None
            before there is one.
        requests, questions: the same of chat requests without and with labels.
    """

    def __init__(self, lm: EvaluationLM, cache: CallCache | None = None) -> None:
        super().__init__(lm)
        self.cache = cache
        self.pairs: tuple[Sequence[str], Sequence[str], Pairs] | None = None
        self.requests: list[ChatRequest] = []
        self.questions: list[ChatRequest] = []
        self._stages = [""]

    @property
    def stages(self) -> dict[str, StageTally]:
        """What would be asked in each stage; a call counts where it is put first."""
        rows: dict[str, list[LoggedCall]] = {stage: [] for stage in self._stages if stage}
        for row in self.log.rows.values():
            rows.setdefault(row.stage, []).append(row)
        return {stage: StageTally.of(own) for stage, own in rows.items()}

    def begin(self, stage: str) -> None:
        """What is asked from now on belongs to this stage."""
        self._stages.append(stage)

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """Known pairs; NaN for all others."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        known = known_answers(self.cache, keys) if self.cache else {}
        for key, (c, t) in zip(keys, pairs, strict=True):
            if key not in self.log.rows:
                size = estimate([contexts[c], targets[t]])
                self._count(key, LoggedCall("", "logprob", (), known=key in known), size, 1)
        unknown = [pair for key, pair in zip(keys, pairs, strict=True) if key not in known]
        if self.pairs is None and unknown:
            self.pairs = (contexts, targets, unknown)
        return LogProbTable([known.get(key, UNKNOWN) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Known replies; none for all others."""
        keys = [chat_key(self.identity, request) for request in requests]
        known = known_answers(self.cache, keys) if self.cache else {}
        for key, request in zip(keys, requests, strict=True):
            if key not in self.log.rows:
                row = LoggedCall("", "chat", request.key, known=key in known)
                row.labels = bool(request.labels)
                size = estimate([*(m.content for m in request.messages), *request.labels])
                most = 0 if request.labels else request.max_tokens or UNBOUNDED
                self._count(key, row, size, most)
        new = [request for key, request in zip(keys, requests, strict=True) if key not in known]
        self.requests = self.requests or [request for request in new if not request.labels]
        self.questions = self.questions or [request for request in new if request.labels]
        return [known.get(key) or Reply(None, NOT_ASKED) for key in keys]

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Nothing: this is no run."""

    def about(self, *calls: object) -> None:
        """Nothing either."""

    def close(self) -> None:
        """Close the cache."""
        if self.cache is not None:
            self.cache.close()

    def _count(self, key: bytes, row: LoggedCall, tokens: int, most: int) -> None:
        row.stage, row.input_tokens, row.output_tokens = self._stages[-1], tokens, most
        self.log.rows[key] = row
