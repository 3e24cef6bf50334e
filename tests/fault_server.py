"""An OpenAI-compatible server that misbehaves, to try a client on.

    python -m tests.fault_server                                    # one call in five meets trouble
    python -m tests.fault_server --fault 500@.1x2 --fault hang@.05  # of one's own
    python -m tests.fault_server --fault 429@.05/requests           # stray: by request, not by call
    python -m tests.fault_server --outage 500+300                   # requests 500 to 800 get 503
    python -m tests.fault_server --outage 10s+20s --outage-mode drop
    python -m tests.fault_server --fault redirect@1 --key sk-canary

It listens on this machine alone, prints the address and a command to run against it, and at the end
(Ctrl-C, or --seconds) what it saw: requests, what a provider would charge, the faults met. The same
server as a fixture is ``tests.servers.process.scripted``.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.account import Account
from tests.servers.modes import MODES
from tests.servers.scripted import Server, start

MIXED = ["429", "500", "cut", "drop", "malformed", "refusal"]
COMMAND = """\
python run.py mechanism=judge dataset=xsum limit=5 evaluation_lm=openai \\
  evaluation_lm.model=gpt-4o-mini evaluation_lm.base_url={url} evaluation_lm.server=scripted \\
  evaluation_lm.limits.timeout=5 evaluation_lm.limits.longest_wait=5 tracker=none"""


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The server's settings."""
    given: dict[str, Any] = {"faults": arguments.fault or MIXED, "share": arguments.share}
    if arguments.outage:
        given["outage"] = outage(arguments.outage) | {"mode": arguments.outage_mode}
        given["faults"] = arguments.fault or []
    for name in ("key", "delay", "per_second", "per_minute", "at_once"):
        if getattr(arguments, name) is not None:
            given[name] = getattr(arguments, name)
    return given


def outage(text: str) -> dict[str, float]:
    """``500+300`` in requests, ``10s+20s`` in seconds; without a + it does not heal."""
    after, _, length = text.partition("+")
    if text.endswith("s"):
        span = {"seconds": float(length.rstrip("s"))} if length else {}
        return {"after_seconds": float(after.rstrip("s"))} | span
    return {"after": int(after)} | ({"requests": int(length)} if length else {})


def parser() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    rows = [f"  {name:<17} {mode.entry:<7} {mode.words}" for name, mode in MODES.items()]
    found = argparse.ArgumentParser(
        "python -m tests.fault_server",
        description=__doc__,
        epilog="\n".join(["modes (defect, what happens; [=...] is the value it takes):", *rows]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("--fault", action="append", metavar="MODE[=VALUE][@SHARE[/requests]][xTIMES]")
    add("--share", type=float, default=0.2, help="of the calls that meet faults without a share")
    add("--outage", help="AFTER[+LENGTH] in requests, or in seconds: 10s+20s")
    add("--outage-mode", default="503", help="what every request meets in it")
    add("--key", help="the key it asks for")
    add("--delay", type=float, help="seconds before each answer")
    add("--per-second", type=int, help="a real limit: 429 above")
    add("--per-minute", type=int, help="the same")
    add("--at-once", type=int, help="requests under way; 429 above")
    add("--port", type=int, default=0)
    add("--seconds", type=float, help="stop by itself")
    add("--log", type=Path, help="keep what it saw (JSONL)")
    return found


async def serve(arguments: argparse.Namespace, log: Path) -> None:
    """Until interrupted."""
    try:
        server = Server(settings(arguments), str(log))
    except ValueError as cause:
        raise SystemExit(f"error: {cause}") from None
    _, port = await start(server, arguments.port)
    url = f"http://127.0.0.1:{port}/v1"
    print(f"base_url: {url}\n\n{COMMAND.format(url=url)}\n\nCtrl-C ends it.", flush=True)
    stop = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, stop.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), arguments.seconds)
    print("\n" + "\n".join(Account.read(log).lines()), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    given = parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(serve(given, given.log or Path(folder) / "server.jsonl"))


if __name__ == "__main__":
    main()
