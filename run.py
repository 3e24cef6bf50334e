"""judgelab's one entry point: compose a config, run its study, return its primary metric."""

from __future__ import annotations

import hydra
from omegaconf import DictConfig

from judgelab.config.launch import guarded


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig) -> float:
    """Run one study; the returned number is what a Hydra sweeper optimises."""
    from judgelab.engine.run import run  # heavy imports only once a run starts: --help is instant

    return run(cfg)


if __name__ == "__main__":
    guarded(main)
