"""``judgelab`` on the command line, or ``python -m judgelab``: the same as run.py in a checkout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from judgelab.core.resources import PROGRAM, conf, own_conf

if TYPE_CHECKING:
    from omegaconf import DictConfig

VERBS = ("audit", "compare", "completion", "pack", "replay", "screen")


def run(cfg: DictConfig) -> float:
    """Run one study; its main figure is returned, for Hydra's sweepers."""
    from judgelab.engine import run as engine  # heavy imports only once a run starts

    return engine.run(cfg)


def help_text() -> str:
    """Every axis with its options; Hydra would take seconds to say it."""
    options = dict[str, set[str]]()
    for folder in filter(None, (conf(), conf() / "papers", own_conf())):
        for file in folder.glob("*/*.yaml"):
            options.setdefault(file.parent.name, set()).add(file.stem)
    lines = [f"{axis}: {', '.join(sorted(names))}" for axis, names in sorted(options.items())]
    text = (conf() / "help.txt").read_text(encoding="utf-8")
    return text.replace("PROGRAM", PROGRAM).replace("AXES", "\n".join(lines))


def main() -> None:
    """The console script."""
    if {"--help", "-h"} & {*sys.argv[1:]} and sys.argv[1] not in VERBS:
        print(help_text())
        return
    if sys.argv[1:2] and sys.argv[1] in VERBS:
        from judgelab.command import verbs

        verbs.main(sys.argv[1:], PROGRAM)
        return
    import hydra

    from judgelab.config.launch import guarded

    options = {"version_base": "1.3", "config_path": str(conf()), "config_name": "config"}
    guarded(hydra.main(**options)(run))


if __name__ == "__main__":
    main()
