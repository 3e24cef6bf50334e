"""A config builds classes of judgelab and of packages that its user names, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from judgelab.config import build
from judgelab.config.composing import composed as compose
from judgelab.config.targets import check_targets, trusting
from judgelab.core.errors import ConfigError
from judgelab.core.resources import conf
from judgelab.engine.run import carry_out


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("os.system", r"_target_='os\.system': os is neither .* add 'trusted_packages=\[os\]'"),
        ("judgelab.core.errors.importlib.import_module", "cannot be imported"),
        ("judgelab.core.errors.require", "name a class"),
        ("judgelab.engine.run.Path", r"add 'trusted_packages=\[pathlib\]'"),
        ("judgelab.store.run_dir.RunDir.reopen", "cannot be imported"),
        ("judgelab_of_others.Class", r"trusted_packages=\[judgelab_of_others\]"),
        ("experiments.catalogue.main", r"trusted_packages=\[experiments\]"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_what_is_no_class_of_ours_is_refused(target: str, said: str, nested: bool) -> None:
    node = {"_target_": target}
    inner = {"_target_": "judgelab.evaluation_lm.compression.Compression", "workers": node}
    with pytest.raises(ConfigError, match=said):
        build(inner if nested else node, "x")


def test_nothing_is_imported_to_look_at_a_name(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(ConfigError, match=r"a\.b\.1\._target_='evil\.Class'"):
            check_targets({"a": {"b": [{}, {"_target_": "evil.Class"}]}})
        with pytest.raises(ConfigError, match="evil is neither"):
            build({"_target_": "evil.Class"}, "a")
        with trusting(["evil"]), pytest.raises(SystemExit, match="imported"):
            build({"_target_": "evil.Class"}, "a")
    finally:
        sys.path.remove(str(tmp_path))


def composed(root: Path, *words: str) -> DictConfig:
    return compose(["mechanism=length", "limit=3", "tracker=none", f"paths.root={root}", *words])


def test_a_config_does_not_vouch_for_itself(tmp_path: Path) -> None:
    config = composed(tmp_path, "trusted_packages=[subprocess]", "dry_run=true")
    with pytest.raises(ConfigError, match="came with a config file"):
        carry_out(config)
    with pytest.raises(ConfigError, match=r"'\*' is no name of a package"):
        carry_out(composed(tmp_path), trusted_packages=["*"])
    carry_out(composed(tmp_path), trusted_packages=["mine"])
    (kept,) = (tmp_path / "runs").glob("*/config.yaml")
    assert "trusted_packages" not in OmegaConf.load(kept)


def test_no_function_is_called_even_in_a_dry_run(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    config = composed(tmp_path, "dry_run=true")
    node = {"_target_": "shutil.copyfile", "src": str(tmp_path / "a"), "dst": str(tmp_path / "b")}
    for key in ("mechanism", "synopsis"):
        foreign = OmegaConf.merge(config, {})
        foreign[key] = node
        for packages in ((), ["shutil"]):
            with pytest.raises(ConfigError, match=rf"{key}._target_='shutil.copyfile'"):
                carry_out(foreign, trusted_packages=packages)  # type: ignore[arg-type]
    assert not (tmp_path / "b").exists()


def test_a_class_of_ones_own_is_built_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from judgelab.mechanism.length import Length\n\n\nclass Own(Length):\n    pass\n"
    )
    done = run(tmp_path, "mechanism._target_=own.Own", "trusted_packages=[own]")
    assert done.returncode == 0, done.stderr
    with pytest.raises(ConfigError, match=r"add 'trusted_packages=\[own\]'"):
        carry_out(composed(tmp_path, "mechanism._target_=own.Own"))


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The program in a folder of somebody else's."""
    given = ["mechanism=length", "limit=3", "tracker=none", "dry_run=true", f"paths.root={folder}"]
    return subprocess.run(
        [sys.executable, "-m", "judgelab", *given, *words],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{folder}:{conf().parent}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_option_file_does_not_vouch_by_setting_the_words_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("open('imported', 'w')\n")
    (tmp_path / "conf" / "study").mkdir(parents=True)
    (tmp_path / "conf" / "study" / "evil.yaml").write_text(
        "# @package _global_\n"
        "hydra: {overrides: {task: ['trusted_packages=[own]']},"
        " job: {env_set: {JUDGELAB_TRUSTED_PACKAGES: 'trusted_packages=[own]'}}}\n"
        "trusted_packages: [own]\nstudy: {_target_: own.Study}\n"
    )
    done = run(tmp_path, "study=evil")
    assert done.returncode == 1 and "came with a config file" in done.stderr, done.stderr
    assert not (tmp_path / "imported").exists()


def test_another_folders_experiments_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__init__.py").write_text("open('imported', 'w')\n")
    done = run(tmp_path, "mechanism._target_=experiments.Own")
    assert done.returncode == 1 and "trusted_packages=[experiments]" in done.stderr, done.stderr
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("line", "said"), [("def (", "SyntaxError: .*broken_1"), ("x = y", "NameError: ")]
)
def test_a_module_of_ones_own_that_cannot_be_imported_is_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    name = "broken_1" if "(" in line else "broken_2"
    (tmp_path / f"{name}.py").write_text(f"{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with trusting([name]), pytest.raises(ConfigError, match=f"cannot be imported: {said}"):
        build({"_target_": f"{name}.Own"}, "mechanism")
