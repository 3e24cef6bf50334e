"""What may be installed beside us."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = {
    r.name: r
    for line in (
        *PROJECT["dependencies"],
        *(x for extra in PROJECT["optional-dependencies"].values() for x in extra),
    )
    if (r := Requirement(line)).name != "judgelab"
}


def test_hydra_is_not_older_than_its_security_release() -> None:
    allowed = REQUIRED["hydra-core"].specifier
    assert not any(allowed.contains(old) for old in ("1.3.0", "1.3.2", "1.3.3"))
    assert allowed.contains("1.3.4")


def test_pinned_releases_are_among_those_required() -> None:
    pins = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text()))
    pinned = {name: pins[name] for name in REQUIRED if name in pins}
    assert {"hydra-core", "torch", "pyppmd"} <= set(pinned)
    for name, version in pinned.items():
        assert REQUIRED[name].specifier.contains(version), name
