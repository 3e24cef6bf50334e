"""``judgelab`` on the command line, or ``python -m judgelab``: the same as run.py in a checkout."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from judgelab.core.resources import PROGRAM, conf

if TYPE_CHECKING:
    from omegaconf import DictConfig

VERBS = ("audit", "compare", "completion", "pack", "replay", "screen")


def run(cfg: DictConfig) -> float:
    """Run one study; its main figure is returned, for Hydra's sweepers."""
    from judgelab.engine import run as engine  # heavy imports only once a run starts

    return engine.run(cfg)


def main() -> None:
    """The console script."""
    os.environ["JUDGELAB_PROGRAM"] = PROGRAM  # for the texts of conf/launch.yaml
    if sys.argv[1:2] and sys.argv[1] in VERBS:
        from judgelab.command import verbs

        return verbs.main(sys.argv[1:], PROGRAM)
    import hydra

    from judgelab.config.launch import guarded

    options = {"version_base": "1.3", "config_path": str(conf()), "config_name": "config"}
    guarded(hydra.main(**options)(run))


if __name__ == "__main__":
    main()
