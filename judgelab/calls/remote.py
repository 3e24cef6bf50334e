"""LMs behind a network: many calls at once, whose answers arrive one by one and cost something."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from queue import SimpleQueue
from typing import Any, TypeVar

from judgelab.calls.budget import Price, price_of
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.core.lm import ChatRequest, LogProbTable, Pairs, Reply, StreamingLM, Strings

T = TypeVar("T")


class Remote(StreamingLM, ABC):
    """An evaluation LM that hands over each answer as it arrives, so that it can be kept at once.

    Limits, retries and the meter work below, on attempts: a wrapper would miss paid retries.
    """

    model: str
    limits: Limits

    def price(self, file: str | None = None) -> Price | None:
        """Its price by the list (``price_of``); None: unknown."""
        return price_of(self.model, file)

    @property
    def streaming(self) -> Remote:
        """Itself."""
        return self

    @property
    def until(self) -> float | None:
        """When its server wants to be asked again (seconds since 1970); None: it does not say."""
        return None

    @abstractmethod
    def attach(self, meter: Meter, tell: Callable[[str], None] = lambda words: None) -> None:
        """Note every attempt in this meter from now on, and keep to its budget.

        ``tell`` is called, from another thread, with words on a wait of more than some seconds.
        """

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request, in order."""
        return [reply for _, reply in sorted(self.stream_chat(requests), key=itemgetter(0))]

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats for every (c, t) of ``pairs``."""
        rows = sorted(self.stream_logprob(contexts, targets, pairs), key=itemgetter(0))
        return LogProbTable([row for _, row in rows])


@contextmanager
def hold_interrupts(tell: Callable[[], None]) -> Iterator[None]:
    """Hold the first SIGINT or SIGTERM back until the block is left; a second one acts at once.

    Signals reach the main thread alone: in any other nothing is held.
    """
    before: dict[int, Any] = {}
    signals: list[int] = []

    def restore() -> None:
        while before:
            signal.signal(*before.popitem())

    def hold(number: int, frame: object) -> None:
        signals.append(number)
        restore()
        print("Stopping: calls under way are waited for (once more: not)", file=sys.stderr)
        tell()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, hold)
    try:
        yield
    finally:
        restore()
        if signals:
            signal.raise_signal(signals[0])


class CallLoop:
    """An event loop in a thread, so that it works below a notebook's loop too.

    A call keeps its place until its result was dealt with: a kill loses at most ``window`` results.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="calls", daemon=True)
        self._thread.start()

    def stream(
        self,
        jobs: Sequence[Callable[[], Awaitable[T]]],
        window: int,
        halt: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, T]]:
        """(index, result) in the order of arrival.

        The first job that raises, SIGINT or SIGTERM stops the others from starting; those under way
        are awaited and handed over before it takes effect (a second signal takes it at once).
        ``halt`` is called in the loop at a signal.
        """
        ready: SimpleQueue[tuple[int, T | None, BaseException | None] | None] = SimpleQueue()
        places = asyncio.Semaphore(window)
        stop = threading.Event()

        async def one(index: int) -> None:
            try:
                ready.put((index, await jobs[index](), None))
            except Exception as cause:
                stop.set()
                ready.put((index, None, cause))

        async def feed() -> None:
            tasks: set[asyncio.Task[None]] = set()
            try:
                for index in range(len(jobs)):
                    await places.acquire()
                    if stop.is_set():
                        break
                    task = asyncio.create_task(one(index))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                while tasks:
                    await asyncio.wait(tasks)
            finally:
                for task in tasks:
                    task.cancel()
                ready.put(None)

        def interrupt() -> None:
            stop.set()
            self.loop.call_soon_threadsafe(halt)

        feeding = asyncio.run_coroutine_threadsafe(feed(), self.loop)
        fault: BaseException | None = None
        with hold_interrupts(interrupt):
            try:
                while (result := ready.get()) is not None:
                    index, value, cause = result
                    fault = fault or cause
                    if cause is None:
                        yield index, value  # type: ignore[misc]
                    self.loop.call_soon_threadsafe(places.release)
            finally:
                feeding.cancel()
        if fault is not None:
            raise fault

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        """One coroutine's result."""
        return asyncio.run_coroutine_threadsafe(job, self.loop).result()

    def close(self) -> None:
        """Stop the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        self.loop.close()
