"""``python -m judgelab.tracker.weave_sending``: one evaluation for Weave, in its own process.

Weave patches other packages, installs a tracer for the whole process, keeps threads that send
later, and repeats for ever what a server does not take. Here all of that ends with the process, and
what was lost on the way is known. In: JSON of ``weave.payload`` on stdin; out: JSON with ``place``,
or with ``cause``.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from judgelab.core.errors import JudgelabError, require

EXTRA = "weave"
LONGEST = 300  # characters of a cause
GONE = ("requeuing", "ropping")
"""In Weave's warnings: calls that it gave up on, or puts back to try again."""


class _Lost(logging.Handler):
    """What Weave says of calls that did not arrive; it raises nothing.

    Args:
        patience: seconds after the first of them when waiting for the others ends.
    """

    def __init__(self, patience: float) -> None:
        super().__init__(logging.WARNING)
        self._end = threading.Timer(patience, lambda: end({"cause": self.words}))
        self._end.daemon = True
        self.said: list[str] = []

    @property
    def words(self) -> str:
        """What it said, each once."""
        return "; ".join(dict.fromkeys(self.said))

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.levelno < logging.ERROR and not any(word in said for word in GONE):
            return
        if not self.said:
            self._end.start()
        if not said.startswith("dropped"):  # ids of what another line counts
            self.said.append(said)


def send(asked: Mapping[str, Any]) -> str:
    """Log the evaluation, wait until it has arrived, and return its address.

    Raises:
        JudgelabError: Weave is missing, switched off, or did not take all of it.
    """
    weave = require("weave", EXTRA)
    lost = _Lost(asked["timeout"])
    client = weave.init(
        asked["project"],
        attributes=asked["attributes"],
        settings={
            "capture_client_info": False,
            "capture_code": False,
            "capture_system_info": False,
            "enable_disk_fallback": False,  # a file of texts in the working directory
            "http_timeout": asked["timeout"],
            "implicitly_patch_integrations": False,
            "log_level": "WARNING",
            "max_calls_queue_size": 0,
            "print_call_link": False,
            "retry_max_attempts": 2,
            "retry_max_interval": 2.0,
            "use_server_cache": False,
        },
    )
    if client.entity == "DISABLED":
        raise JudgelabError("Weave is switched off (WEAVE_DISABLED), or too old for its server")
    logging.getLogger("weave").addHandler(lost)
    if asked["wandb_run"] is not None:
        client.set_wandb_run_context(run_id=asked["wandb_run"])
    log = weave.EvaluationLogger(
        name=asked["name"],
        model=asked["model"],
        dataset=weave.Dataset(**asked["dataset"]),
        trace_scores=False,  # as W&B's own tables: scores stand on the prediction
    )
    for call in asked["calls"]:
        log.log_example(call["inputs"], call["output"], call["scores"])
    log.log_summary(asked["summary"])
    client.finish(use_progress_bar=False)
    if lost.said:
        raise JudgelabError(lost.words)
    return str(log.ui_url)


def main() -> None:
    """Read, send, answer."""
    try:
        end({"place": send(json.load(sys.stdin))})
    except Exception as cause:  # of Weave, its HTTP, its GraphQL
        said = str(cause).removesuffix(" Please contact support.")
        end({"cause": said or type(cause).__name__})


def end(answer: Mapping[str, str]) -> None:
    """Answer, and end at once: what Weave would try again at the exit has been told."""
    short = {name: " ".join(said.split())[:LONGEST].rstrip(". ") for name, said in answer.items()}
    print(json.dumps(short), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
