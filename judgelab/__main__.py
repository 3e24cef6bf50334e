"""``judgelab`` on the command line, or ``python -m judgelab``: the same as run.py in a checkout."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import hydra
from omegaconf import DictConfig

from judgelab.config.launch import guarded
from judgelab.core.resources import PROGRAM, conf


@hydra.main(version_base="1.3", config_path=str(conf()), config_name="config")
def run(cfg: DictConfig) -> float:
    """Run one study; its main figure is returned, for Hydra's sweepers."""
    from judgelab.engine import run as engine  # heavy imports only once a run starts

    return engine.run(cfg)


def main() -> None:
    """The console script."""
    os.environ["JUDGELAB_PROGRAM"] = PROGRAM  # for the texts of conf/launch.yaml
    guarded(packs if sys.argv[1:2] in (["pack"], ["replay"]) else run)


def packs() -> None:
    """``judgelab pack RUN``, ``judgelab replay FILE``."""
    parser = argparse.ArgumentParser(prog=PROGRAM)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pack = verbs.add_parser("pack", help="put a finished run's calls, config and result in a file")
    pack.add_argument("run", type=Path, help="folder of a finished run (outputs/runs/...)")
    pack.add_argument("--out", type=Path, help="the file; beside the run's folder by default")
    pack.add_argument("--texts", action="store_true", help="put the dataset's own file in, too")
    replay = verbs.add_parser("replay", help="make a packed run again, without its LMs")
    replay.add_argument("file", type=Path, help="what judgelab pack wrote")
    replay.add_argument("--root", type=Path, default=Path("outputs/replays"), help="where")
    given = parser.parse_args()
    from judgelab.engine import packing

    if given.verb == "pack":
        packing.pack(given.run, given.out, given.texts)
    elif not packing.replay(given.file, given.root):
        sys.exit(1)


if __name__ == "__main__":
    main()
