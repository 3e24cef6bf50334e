"""Measurements that others' models made, read back instead of asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.estimator import RECORDED, Presentation
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import measured
from judgelab.mechanism.calls import DONE, HIDDEN
from judgelab.releases.auto_pre import AutoPreRecords as AutoPre
from judgelab.releases.auto_pre import is_release as is_auto_pre
from judgelab.releases.auto_pre import read_dataset
from judgelab.releases.peer_prediction.domain import ReleasedDomain
from judgelab.releases.peer_prediction.release import read_domain

if TYPE_CHECKING:
    import xarray as xr

PAIR = ("item", "agent", "peer")
VARIABLE = {
    "tvd_mi": "p_minus_q",
    "judge_with_context": "verdict",
    "judge_without_context": "verdict",
}
LEAST_DONE = 0.5
"""Share of an item's calls below which it is left out under ``per_call``: so much must be known of
what is scaled up to all of it."""

AS_RELEASED: dict[str, dict[str, object]] = {
    "case_flip": {"every": 5},
    "format": {"tag": "source"},
    "padding": {"symbol": "X", "count": 10},
    "pattern": {"tag": "source"},
    "repetition": {"joint": " To reiterate: "},
}
"""Settings under which the authors attacked."""


class Replay(EvaluationLM):
    """What the authors of the TVD-MI or of the Auto-PRE paper recorded.

    The releases store results, not prompts and replies, so this LM neither scores nor chats. Of
    TVD-MI it has per-item matrices: a mechanism's measuring step is skipped and its scoring step
    works on them. Of Auto-PRE it has many judges' verdicts, for study=qualification.

    Args:
        path: the release of the TVD-MI paper (either layout) or of Auto-PRE; see judgelab.releases.
        incomplete: an item whose calls did not all succeed holds zeros that mean "failed" among
            zeros that mean 0, not to be told apart; how many are which is known. ``per_call``
            leaves the failed calls out of the item's means (docs/definitions.md), and the item
            where less than half of its calls came back; ``unscored`` leaves every such item out;
            ``as_recorded`` takes the zeros at face value, as the authors' code does. All of them
            count what is left out. Of Auto-PRE unread verdicts are known one by one, so the first
            two are the same.

    Raises:
        ConfigError: no path.
    """

    capabilities = frozenset({Capability.RECORDED})
    replayed = True
    presentation = Presentation("replay", RECORDED, RECORDED)

    def __init__(
        self,
        path: str | None,
        incomplete: Literal["per_call", "unscored", "as_recorded"] = "per_call",
    ) -> None:
        if path is None:
            raise ConfigError(
                "evaluation_lm=replay reads recorded scores: use it with dataset=released "
                "dataset.path=FOLDER (or dataset=auto_pre_released)."
            )
        self.path, self.incomplete = path, incomplete

    @property
    def identity(self) -> str:
        """The models behind the release."""
        if is_auto_pre(self.path):
            return f"replay of the judges of the Auto-PRE release, incomplete={self.incomplete}"
        return (
            "replay of Llama-3.3-70B-Instruct-Turbo (log-probabilities) and gpt-4o-mini (critic, "
            f"judge), incomplete={self.incomplete}"
        )

    def remarks(self, definition: str) -> tuple[str, ...]:
        """Why figures by the released definition differ from those in print."""
        if definition != "released" or self.incomplete == "as_recorded":
            return ()
        return (
            f"study.definition=released with evaluation_lm.incomplete={self.incomplete}: the "
            "authors count failed calls as 0 (as_recorded), so their printed figures differ.",
        )

    def recorded(self, measurement: str, panel: Panel) -> xr.Dataset:
        """What the mechanism's ``measure`` would have returned on this panel.

        Raises:
            DataError: the panel is not of the release, or the release lacks this measurement.
        """
        domain = self._domain(panel)
        names = tuple(agent.name for agent in panel.agents)
        if names != tuple(agent.name for agent in domain.agents):
            raise DataError(
                f"evaluation_lm=replay: the panel's agents are not those of {domain.key}: use "
                "dataset=released with agents=recorded."
            )
        return self.of_domain(measurement, domain, panel)

    def of_domain(self, measurement: str, domain: ReleasedDomain, panel: Panel) -> xr.Dataset:
        """The same, of a domain that was read already."""
        if measurement == "logprob":
            return self._logprob(domain, panel)
        if measurement not in VARIABLE:
            raise DataError(f"evaluation_lm=replay records no {measurement!r} measurements.")
        return self._pairs(domain, panel, measurement)

    def judges(self, panel: Panel) -> AutoPre:
        """All verdicts on the panel's dataset (raises DataError: it is not of Auto-PRE)."""
        origin = panel.provenance
        if origin.get("dataset") != "auto_pre_released":
            raise DataError(
                "evaluation_lm=replay has the verdicts of many judges on "
                "dataset=auto_pre_released only."
            )
        if "attack" in origin:
            raise DataError("evaluation_lm=replay: no verdicts were recorded under an attack.")
        return read_dataset(self.path, str(origin["domain"]))

    def _domain(self, panel: Panel) -> ReleasedDomain:
        origin = panel.provenance
        if origin.get("dataset") != "released":
            raise DataError(
                "evaluation_lm=replay needs dataset=released: its matrices belong to it."
            )
        attack = None if origin.get("attack") is None else str(origin["attack"])
        settings = origin.get("attack_settings")
        if attack is not None and settings != AS_RELEASED.get(attack):
            raise DataError(
                f"evaluation_lm=replay: no scores were recorded under attack={attack} with "
                f"{settings}; the authors ran {AS_RELEASED.get(attack, 'no such attack')}."
            )
        return read_domain(self.path, str(origin["domain"]), attack)

    def _logprob(self, domain: ReleasedDomain, panel: Panel) -> xr.Dataset:
        if domain.logp_cond is None or domain.logp_base is None or domain.tokens is None:
            raise DataError(f"The release holds no log-probabilities of {domain.key}.")
        rows = _rows(panel, domain.ids("mi"))
        tokens = _take(domain.tokens, rows)
        data = measured(
            panel,
            conditional=(PAIR, _take(domain.logp_cond, rows) * tokens[:, :, None]),
            marginal=(PAIR[:2], _take(domain.logp_base, rows) * tokens),
            tokens=(PAIR[:2], tokens),
        )
        if domain.gppm_released is not None:
            data["gppm_released"] = (PAIR[:2], _take(domain.gppm_released, rows))
        return data

    def _pairs(self, domain: ReleasedDomain, panel: Panel, measurement: str) -> xr.Dataset:
        cells = domain.pairs(measurement)
        if cells is None:
            raise DataError(f"The release holds no {measurement} scores of {domain.key}.")
        rows = _rows(panel, domain.ids(measurement))
        lost = domain.failed(measurement).astype(np.float64)
        values, failed = _take(cells, rows), np.nan_to_num(_take(lost, rows))
        asked = int(np.isfinite(values).sum())
        scored, done = np.ones(len(rows), dtype=np.bool_), np.ones(len(rows))
        if self.incomplete == "unscored":
            scored = _take(domain.complete(measurement), rows) == 1
        elif self.incomplete == "per_call":
            done = _take(domain.completed(measurement), rows)
            scored = done >= LEAST_DONE
        values = np.where(scored[:, None, None], values, np.nan)
        data = measured(panel, **{VARIABLE[measurement]: (PAIR, values)}).assign_attrs(
            calls=asked, failed_calls=int(failed.sum()), unread_calls=0
        )
        if (hidden := np.where(scored & (done < 1), failed, 0)).any():
            data[DONE] = (PAIR[:1], np.where(scored, done, np.nan))
            data[HIDDEN] = (PAIR[:1], hidden.astype(np.int64))
        return data


def _rows(panel: Panel, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """[items] row of each panel item in the recorded arrays; -1 where it was not recorded."""
    where = {int(item): row for row, item in enumerate(ids)}
    return np.array([where.get(int(item.id), -1) for item in panel.items], dtype=np.int64)


def _take(
    values: NDArray[np.float64] | NDArray[np.bool_], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    taken = np.asarray(values, dtype=np.float64)[rows]
    taken[rows < 0] = np.nan
    return taken
