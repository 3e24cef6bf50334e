"""Who of several processes is alive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from judgelab.store.owners import Owner

HOLDER = """
import sys, time
from pathlib import Path
from judgelab.store.owners import Owner
print(Owner(Path(sys.argv[1])).name, flush=True)
time.sleep(60)
"""


def test_an_owner_lives_until_its_process_is_killed(tmp_path: Path) -> None:
    me, folder = Owner(tmp_path / "owners"), tmp_path / "owners"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        other = process.stdout.readline().strip()
        assert me.lives(other) and me.lives(other) and me.lives(me.name)
        process.kill()
    assert not me.lives(other)
    assert not (folder / other).exists(), "what it left is removed"
    assert not me.lives("../../etc/passwd")
    me.close()
    assert not list(folder.iterdir())
