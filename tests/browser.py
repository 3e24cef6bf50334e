"""Pages in a real browser: headless Chromium, without a network; skips where there is none."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOUND = re.compile(r'<pre id="found">(.+?)</pre>', re.DOTALL)
DRIVER = """
<script>
addEventListener("load", async () => {
  const wait = ms => new Promise(done => setTimeout(done, ms));
  let found;
  try { found = await (async () => { %s })(); } catch (fault) { found = { fault: String(fault) }; }
  parent.postMessage(JSON.stringify(found), "*");
});
</script>
"""
FRAME = """<!doctype html><pre id="found"></pre><script>
addEventListener("message", said => { document.getElementById("found").textContent = said.data; });
</script><iframe src="%s" style="width:%dpx;height:900px;border:0"></iframe>
"""
"""A window has 500 pixels at least, a frame has as many as it is given."""


def browser() -> str:
    """Chromium's command."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium: install it to look at pages in a browser")


def script(name: str) -> str:
    """What a file of tests/e2e/pages does in a page, after the helpers of its kind of page."""
    folder = Path(__file__).with_name("e2e") / "pages"
    helpers = folder / f"{name.partition('_')[0]}.js"
    return helpers.read_text("utf-8") + (folder / f"{name}.js").read_text("utf-8")


def looked_at(page: Path, script: str, width: int = 1400, address: str = "") -> Any:
    """What a script returns (as JSON) that runs in the page once it has loaded.

    Args:
        script: the body of an async function; ``await wait(ms)`` lets the page work.
        width: of the page, pixels.
        address: what follows the page's name: ``#...``.
    """
    driven, frame = (page.with_name(f"{name}-{page.name}") for name in ("driven", "frame"))
    driven.write_text(page.read_text(encoding="utf-8") + DRIVER % script, encoding="utf-8")
    frame.write_text(FRAME % (html.escape(driven.name + address), width), encoding="utf-8")
    command = [
        *(browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000"),
        *(f"--user-data-dir={page.parent / 'browser'}", "--virtual-time-budget=20000"),
        *("--dump-dom", frame.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = FOUND.search(done.stdout)
    assert found is not None, f"the page did not answer: {done.stdout[-1000:]}"
    return json.loads(html.unescape(found[1]))
