"""Both layouts of the authors' release give the same arrays and texts; damage gives a sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from judgelab.attack.case_flip import CaseFlip
from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.dataset.released import Released
from judgelab.releases.peer_prediction.domain import MECHANISMS, ReleasedDomain
from judgelab.releases.peer_prediction.release import list_domains, read_domain
from tests.released.release_files import arrays, dump, write_clone, write_export
from tests.scripted import NOBODY

ITEMS = 12
"""Enough for "10" to sort before "2" among file names."""

CLEAN, ATTACKED = "reddit_tifu", "reddit_tifu__case_flip"
KEYS = (CLEAN, ATTACKED, "opus")
ARRAYS = [f.name for f in fields(ReleasedDomain) if "FloatArray" in str(f.type)]


@pytest.fixture(scope="module")
def export(shared_data: Path) -> Path:
    folder = shared_data / "peer_prediction"
    for key in KEYS:
        if not (folder / "matrices" / f"{key}.npz").is_file():
            pytest.skip(f"no released matrices of {key}")
    return folder


@pytest.fixture(scope="module")
def panels(export: Path) -> dict[str, Panel]:
    clean = {domain: read_domain(export, domain).panel(ITEMS) for domain in ("reddit_tifu", "opus")}
    return {**clean, ATTACKED: CaseFlip().apply(clean[CLEAN], NOBODY, seed=0)}


@pytest.fixture(scope="module")
def clone(export: Path, panels: dict[str, Panel], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("clone")
    write_clone(target, export, panels, ITEMS)
    return target


@pytest.fixture
def broken_clone(clone: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(clone, tmp_path / "clone"))


@pytest.fixture
def small_export(export: Path, tmp_path: Path) -> Path:
    write_export(tmp_path / "export", export, ["xsum"], ITEMS)
    return tmp_path / "export"


def test_the_export_is_discovered_from_its_files(export: Path) -> None:
    stems = {path.stem for path in (export / "matrices").glob("*.npz")}
    found = {d if a is None else f"{d}__{a}" for d, a in list_domains(export)}
    assert found == stems


def test_every_domain_of_the_export_reads(export: Path) -> None:
    for domain, attack in list_domains(export):
        data = read_domain(export, domain, attack)
        for mechanism in MECHANISMS:
            pairs = data.pairs(mechanism)
            assert pairs is not None
            assert pairs.shape == (len(data.ids(mechanism)), len(data.agents), len(data.agents))
            assert np.isnan(np.diagonal(pairs, axis1=1, axis2=2)).all()
            assert np.isnan(pairs).sum() == len(pairs) * len(data.agents)
            assert (np.diff(data.ids(mechanism)) > 0).all()
        assert {"Faithful", "Style", "Strategic", "Low Effort"} <= {a.category for a in data.agents}


def test_arrays_are_the_stored_ones(export: Path) -> None:
    data = read_domain(export, "xsum")
    with np.load(export / "matrices" / "xsum.npz") as stored:
        off = ~np.eye(30, dtype=bool)
        assert data.judge_with_context is not None and data.mi is not None
        assert data.gppm_released is not None
        assert (data.judge_with_context[:, off] == stored["judge_with_context"][:, off]).all()
        np.testing.assert_allclose(data.mi[:, off], stored["mi"][:, off], atol=1e-5)
        assert (data.gppm_released == -stored["gppm_normalized_released"]).all()


def test_reference_agent_and_categories(export: Path) -> None:
    agents = {agent.name: agent for agent in read_domain(export, "opus").agents}
    assert [name for name, agent in agents.items() if agent.reference] == ["Reference"]
    assert agents["Simplify"].category == "Style"
    assert agents["Simplify"].meta["category_paper"] == "Low Effort"


def test_complete_items_are_those_with_every_call(export: Path) -> None:
    data = read_domain(export, "reddit_tifu", "pattern")
    assert data.complete("judge_with_context").sum() == 52
    assert data.complete("judge_without_context").sum() == 0
    assert data.complete("mi").all()
    critic = data.complete("tvd_mi")
    assert (data.calls_done["tvd_mi_p"][critic] == 870).all()
    assert (data.calls_done["tvd_mi_q"][critic] == 870).all()


def test_the_log_run_of_opus_has_fewer_items(export: Path) -> None:
    data = read_domain(export, "opus")
    assert len(data.ids("mi")) == 26 and len(data.ids("tvd_mi")) == 30
    assert not set(data.ids("mi")) & {2, 9, 16, 28}


def test_clone_is_discovered_from_its_folders(clone: Path) -> None:
    assert list_domains(clone) == [
        ("opus", None),
        ("reddit_tifu", None),
        ("reddit_tifu", "case_flip"),
    ]
    assert list_domains(clone / "eval_results") == list_domains(clone)


@pytest.mark.parametrize("key", KEYS)
def test_both_layouts_hold_the_same(clone: Path, export: Path, key: str, tmp_path: Path) -> None:
    write_export(tmp_path / "export", export, [key], ITEMS)
    domain, _, attack = key.partition("__")
    ours = read_domain(clone, domain, attack or None)
    theirs = read_domain(tmp_path / "export", domain, attack or None)
    assert (ours.layout, theirs.layout) == ("clone", "parquet")
    assert ours.agents == theirs.agents
    assert (ours.task, ours.task_description) == (theirs.task, theirs.task_description)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for mechanism in MECHANISMS:
        np.testing.assert_array_equal(ours.ids(mechanism), theirs.ids(mechanism))
        np.testing.assert_array_equal(ours.complete(mechanism), theirs.complete(mechanism))
    for name, calls in theirs.calls_done.items():
        np.testing.assert_array_equal(ours.calls_done[name], calls)


def test_both_layouts_hold_the_same_texts(clone: Path, panels: dict[str, Panel]) -> None:
    ours = read_domain(clone, "reddit_tifu").panel()
    assert ours.digest == panels[CLEAN].digest
    assert ours.provenance["texts"] == "clean"


def test_a_clone_keeps_attacked_texts_and_the_human_reference(
    clone: Path, panels: dict[str, Panel]
) -> None:
    attacked = read_domain(clone, "reddit_tifu", "case_flip").panel()
    assert attacked.texts == panels[ATTACKED].texts
    assert [item.source for item in attacked.items] == [i.source for i in panels[CLEAN].items]
    assert attacked.items[0].reference == panels[CLEAN].items[0].reference
    assert attacked.provenance["texts"] == "attacked"


def test_item_order_in_the_files_does_not_matter(export: Path, tmp_path: Path) -> None:
    for order in (1, -1):
        write_export(tmp_path / str(order), export, ["opus"], ITEMS, order)
    forwards, backwards = (read_domain(tmp_path / name, "opus") for name in ("1", "-1"))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(forwards, name), getattr(backwards, name))
    assert forwards.panel().digest == backwards.panel().digest


def test_the_clones_of_later_commits_and_other_agents(broken_clone: Path) -> None:
    """A folder renamed as the authors later did, an agent nobody knows, an agent left out."""
    folder = broken_clone / "eval_results" / "reddit_tifu_200_config_results"
    renamed = folder.rename(folder.with_name("iclr_peer_review_results_100"))
    path = renamed / "tvd_mi_individual_examples" / "tvd_mi_example_3.json"
    values = json.loads(path.read_text())
    values["condition_keys"][4] = "Newcomer"
    dump(path, values)
    data = read_domain(broken_clone, "peer_review")
    newcomer = [agent.name for agent in data.agents].index("Newcomer")
    assert data.agents[newcomer].category == "Other"
    assert data.tvd_mi is not None and data.logp_cond is not None
    assert np.isfinite(data.tvd_mi[3, newcomer]).sum() == 29
    assert np.isnan(data.tvd_mi[3, 4]).all() and np.isnan(data.logp_cond[:, newcomer]).all()


def test_dataset_released(export: Path) -> None:
    panel = Released(str(export), domain="samsum").load(limit=5)
    assert (len(panel.items), len(panel.agents), panel.task) == (5, 30, "summarization")
    assert all(text for row in panel.texts for text in row)
    assert panel.items[3].reference == panel.texts[3][0]
    assert panel.provenance["dataset"] == "released"
    assert panel.provenance["domain"] == "samsum"
    assert panel.provenance["layout"] == "parquet"


def test_wrong_folders_are_named(tmp_path: Path, export: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        list_domains(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"eval_results/.*meta\.json"):
        list_domains(tmp_path)
    with pytest.raises(DataError, match="holds no scores of atlantis.*xsum"):
        read_domain(export, "atlantis")
    with pytest.raises(DataError, match="xsum under attack flood"):
        read_domain(export, "xsum", "flood")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _without(field: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        values = json.loads(path.read_text())
        del values[field]
        dump(path, values)

    return damage


def _smaller(path: Path) -> None:
    values = json.loads(path.read_text())
    values["win_matrix"] = [row[:-1] for row in values["win_matrix"]]
    dump(path, values)


def _words(path: Path) -> None:
    values = json.loads(path.read_text())
    values["win_matrix"][0][1] = "won"
    dump(path, values)


def _twice(path: Path) -> None:
    values = json.loads(path.read_text())
    values["example_idx"] = 7
    dump(path, values)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_cut, "cut short"),
        (_without("win_matrix"), "lacks the field 'win_matrix'"),
        (_without("condition_keys"), "lacks the field 'condition_keys'"),
        (_smaller, r"shape \(30, 29\)"),
        (_words, "more than numbers"),
        (_twice, "both claim item 7"),
    ],
)
def test_damaged_clone_files_are_named(
    broken_clone: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    folder = broken_clone / "eval_results" / "reddit_tifu_200_config_results"
    path = folder / "llm_context_individual_examples" / "judge_with_context_example_5.json"
    damage(path)
    with pytest.raises(DataError, match=sentence) as caught:
        read_domain(broken_clone, "reddit_tifu")
    assert path.name in str(caught.value)


def test_a_run_that_a_clone_lacks_is_none(broken_clone: Path) -> None:
    folder = broken_clone / "eval_results" / "reddit_tifu_200_config_results"
    shutil.rmtree(folder / "tvd_mi_individual_examples")
    data = read_domain(broken_clone, "reddit_tifu")
    assert data.tvd_mi is None and data.pairs("tvd_mi") is None
    assert len(data.complete("tvd_mi")) == 0 == len(data.ids("tvd_mi"))
    assert data.judge_with_context is not None


def test_a_clone_without_sources_says_so(broken_clone: Path) -> None:
    (broken_clone / "data" / "reddit_tifu_200.json").unlink()
    data = read_domain(broken_clone, "reddit_tifu")
    with pytest.raises(DataError, match=r"No source text for item 0 .*data/reddit_tifu_200.json"):
        data.panel()


def _generation_run(panel: Panel, name: str) -> dict[str, object]:
    names = [agent.name for agent in panel.agents]
    return {
        "agent_perspectives": [{"condition": name} for name in names],
        "tasks": [
            {"context": f"{name} {item.source}", "responses": list(row)}
            for item, row in zip(panel.items, panel.texts, strict=True)
        ],
    }


def test_unscored_items_come_from_the_generation_run(
    broken_clone: Path, panels: dict[str, Panel]
) -> None:
    folder = broken_clone / "eval_results" / "opus_translation_results"
    dump(folder / "run_1_mi_gppm.json", {"num_examples": ITEMS})
    dump(broken_clone / "data" / "agents" / "run_1.json", _generation_run(panels["opus"], "Text"))
    data = read_domain(broken_clone, "opus")
    panel = data.panel()
    assert 2 not in data.ids("mi")
    assert [item.id for item in panel.items] == [str(item) for item in range(ITEMS)]
    assert panel.items[2].source.startswith("Text ")
    assert panel.texts == panels["opus"].texts


def test_another_generation_run_is_left_alone(broken_clone: Path, panels: dict[str, Panel]) -> None:
    folder = broken_clone / "eval_results" / "opus_translation_results"
    other = CaseFlip().apply(panels["opus"], NOBODY, seed=0)
    dump(folder / "run_2.json", _generation_run(other, "Text"))
    panel = read_domain(broken_clone, "opus").panel()
    assert "2" not in [item.id for item in panel.items]
    assert panel.texts[0] == panels["opus"].texts[0]


def test_a_clone_without_configs_still_tells_task_and_categories(broken_clone: Path) -> None:
    shutil.rmtree(broken_clone / "configs")
    data = read_domain(broken_clone, "reddit_tifu", "case_flip")
    assert data.task == "summarization"
    assert {agent.name: agent.category for agent in data.agents}["Poetic"] == "Style"
    assert len(read_domain(broken_clone, "opus").panel().items) > 0


def _rewrite(change: Callable[[dict[str, np.ndarray]], None]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        stored = arrays(path.parents[1], "xsum", ITEMS)
        change(stored)
        np.savez_compressed(path, **stored)

    return damage


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_cut, "is damaged"),
        (_rewrite(lambda stored: stored.pop("judge_with_context")), "lacks the array judge_with"),
        (_rewrite(lambda stored: stored.pop("logp_base")), "lacks the array logp_base"),
        (_rewrite(lambda stored: stored.pop("calls_done_tvd_Q")), "lacks the array calls_done"),
        (_rewrite(lambda stored: stored.pop("item_ids_tvd")), "lacks the array item_ids_tvd"),
        (
            _rewrite(lambda stored: stored.update(tvd_mi=stored["tvd_mi"][:, :29])),
            r"tvd_mi has shape \(12, 29, 30\)",
        ),
        (
            _rewrite(lambda stored: stored.update(item_ids_log=stored["item_ids_log"] // 2)),
            "occurs twice",
        ),
    ],
)
def test_damaged_export_arrays_are_named(
    small_export: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    path = small_export / "matrices" / "xsum.npz"
    damage(path)
    with pytest.raises(DataError, match=sentence) as caught:
        read_domain(small_export, "xsum")
    assert "xsum.npz" in str(caught.value)


@pytest.mark.parametrize("name", ["items.parquet", "responses.parquet"])
def test_damaged_export_texts_are_named(small_export: Path, name: str) -> None:
    data = read_domain(small_export, "xsum")
    _cut(small_export / name)
    with pytest.raises(DataError, match=name):
        data.panel()
    (small_export / name).unlink()
    with pytest.raises(DataError, match=name):
        data.panel()


def test_damaged_meta_is_named(small_export: Path) -> None:
    _cut(small_export / "meta.json")
    with pytest.raises(DataError, match="meta.json is not readable JSON"):
        read_domain(small_export, "xsum")


def test_agents_may_come_from_the_responses(small_export: Path) -> None:
    meta = json.loads((small_export / "meta.json").read_text())
    known = read_domain(small_export, "xsum")
    meta["agents"], meta["domains"] = {}, {}
    dump(small_export / "meta.json", meta)
    data = read_domain(small_export, "xsum")
    assert data.task == "summarization"
    assert [(a.name, a.category) for a in data.agents if not a.reference] == [
        (a.name, a.category) for a in known.agents if not a.reference
    ]
