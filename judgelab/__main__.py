"""``judgelab`` on the command line, or ``python -m judgelab``: the same as run.py in a checkout."""

from __future__ import annotations

import os

import hydra
from omegaconf import DictConfig

from judgelab.config.launch import guarded
from judgelab.core.resources import PROGRAM, conf


@hydra.main(version_base="1.3", config_path=str(conf()), config_name="config")
def run(cfg: DictConfig) -> float:
    """Run one study; the returned number is what a Hydra sweeper optimises."""
    from judgelab.engine import run as engine  # heavy imports only once a run starts

    return engine.run(cfg)


def main() -> None:
    """The console script."""
    os.environ["JUDGELAB_PROGRAM"] = PROGRAM  # for the texts of conf/launch.yaml
    guarded(run)


if __name__ == "__main__":
    main()
