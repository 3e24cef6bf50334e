"""Where the time of a run goes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from judgelab.store.run_dir import RunDir

FILE = "profile.txt"
LINES = 60


@contextmanager
def profiled(wanted: bool, run_dir: RunDir) -> Iterator[None]:
    """Write the functions that took longest, with all that they call, to ``profile.txt``.

    Only the main thread is seen: calls that workers or threads answer count as waiting.
    """
    if not wanted:
        yield
        return
    import cProfile
    import pstats

    profile = cProfile.Profile()
    try:
        with profile:
            yield
    finally:
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(LINES)
        run_dir.write_text(FILE, text.getvalue())
        print(f"profile  {run_dir.path / FILE}")
