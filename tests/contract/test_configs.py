"""Every YAML composes, builds what it names, and lies where the mirror rule says."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_args

import pytest
import yaml

from judgelab.config import AXES, build
from judgelab.config.composing import read_option
from judgelab.config.targets import located
from judgelab.core.lm import Capability
from judgelab.mechanism.criteria import criteria_tasks
from judgelab.mechanism.protocol import Subject
from tests.contract.test_floors import edges

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
OPTIONS = sorted((p.parent.name, p.stem) for axis in AXES for p in (CONF / axis).glob("*.yaml"))


def test_every_module_of_an_axis_is_an_option_or_serves_one() -> None:
    """No mechanism, attack, ... is reachable only from Python."""
    targets = set()
    for axis, name in OPTIONS:
        node = read_option(CONF / axis / f"{name}.yaml")
        targets.add(node["_target_"].rsplit(".", 1)[0])
    used = targets | {there for _, there in edges()}
    for axis in AXES:
        found = {f"judgelab.{axis}.{file.stem}" for file in (ROOT / "judgelab" / axis).glob("*.py")}
        stray = {module for module in found - used if not module.endswith(".__init__")}
        assert not stray, f"neither options nor used: {sorted(stray)}"


def test_a_dataset_of_one_option_lies_in_the_file_of_its_name() -> None:
    options: dict[str, list[str]] = {}
    for axis, name in OPTIONS:
        if axis == "dataset":
            target = read_option(CONF / axis / f"{name}.yaml")["_target_"]
            options.setdefault(target, []).append(name)
    alone = {target: names[0] for target, names in options.items() if len(names) == 1}
    assert [target.split(".")[-2] for target in alone] == list(alone.values())


def test_mechanisms_and_lms_declare_what_the_check_reads() -> None:
    files = (ROOT / "conf" / "dataset").glob("*.yaml")
    tasks = {str(yaml.safe_load(file.read_text("utf-8")).get("task")) for file in files}
    for axis, name in OPTIONS:
        if axis == "mechanism":
            mechanism = build(read_option(CONF / axis / f"{name}.yaml"), axis)
            assert mechanism.name == name
            assert all(needed <= set(Capability) for needed in mechanism.requires)
            assert mechanism.subject in get_args(Subject)
            assert mechanism.tasks <= criteria_tasks() | tasks


@pytest.mark.parametrize(("axis", "name"), OPTIONS)
def test_yaml_lists_every_argument_of_its_class_with_its_default(axis: str, name: str) -> None:
    """A user finds every knob in the YAML, and Python callers get the same defaults."""
    node = read_option(CONF / axis / f"{name}.yaml")
    assert node["_target_"].startswith(f"judgelab.{axis}."), "conf/<axis> is of judgelab/<axis>"
    parameters = inspect.signature(located(node["_target_"], axis)).parameters
    assert set(parameters) == set(node) - {"_target_", "defaults"}
    if node["_target_"].split(".")[-2] != name:
        return  # another setting of a class, which differs on purpose
    for key, parameter in parameters.items():
        given, default = node.get(key), parameter.default
        elsewhere = given == "???" or "${" in str(given) or isinstance(given, dict)
        if default is not inspect.Parameter.empty and not elsewhere:
            plain = list(default) if isinstance(default, tuple) else default
            assert given == plain, f"{axis}={name}: {key} is {default!r} in the class"
