"""Whether the Hugging Face Hub can be asked, told at once."""

from __future__ import annotations

import os
import socket
import threading
import urllib.request
from urllib.parse import urlsplit

WAIT = 3.0
"""Seconds to wait for a connection before the Hub counts as out of reach."""


def why_offline(endpoint: str, offline_mode: bool) -> str | None:
    """Why the Hub cannot be asked, told within ``WAIT`` seconds; None where it can.

    The libraries' own retries take up to 24 s before they give up. A proxy, where one is
    configured, is what has to be reachable.
    """
    if offline_mode or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return "HF_HUB_OFFLINE is set"
    url = urlsplit(endpoint)
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy and not urllib.request.proxy_bypass(url.netloc):
        url = urlsplit(proxy if "//" in proxy else f"//{proxy}", scheme="http")
    port = url.port or (443 if url.scheme == "https" else 80)
    if not url.hostname or not _connects(url.hostname, port):
        return f"{url.hostname}:{port} cannot be reached"
    return None


def _connects(host: str, port: int) -> bool:
    """Whether a connection opens in time; in a thread, as name look-up has no timeout itself."""
    opened = threading.Event()

    def attempt() -> None:
        try:
            socket.create_connection((host, port), timeout=WAIT).close()
        except OSError:
            return
        opened.set()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(WAIT)
    return opened.is_set()
