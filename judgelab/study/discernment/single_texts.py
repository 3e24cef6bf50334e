"""Whether a mechanism scores each text by itself, or holds texts against one another."""

from __future__ import annotations

import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Agent, Panel
from judgelab.engine.context import Context
from judgelab.evaluation_lm.dry_run_lm import Counted


def refuse_peers(context: Context, panel: Panel) -> None:
    """Find out before anything is asked or paid for.

    What reads recorded answers costs nothing: ``refuse_peer_scores`` sees it. What asks no LM is
    shown two agents without texts, which is enough to tell and loads no encoder.

    Args:
        panel: one agent's texts.

    Raises:
        ConfigError: the mechanism's measurements are of two texts of an item, or of the texts as
            they came only.
    """
    by_text = context.mechanism.measurement == "text"
    if Capability.RECORDED in context.evaluation_lm.capabilities and not by_text:
        return
    agents = (panel.agents[0], Agent("another"))
    texts = tuple((None, None) if by_text else (row[0], row[0]) for row in panel.texts)
    pair = panel.with_agents(agents, texts, **({"attack": "perturbations"} if by_text else {}))
    refuse_peer_scores(
        context.mechanism.measure(pair, Counted(context.evaluation_lm), seed=context.seed),
        context.mechanism.name,
    )


def refuse_peer_scores(data: xr.Dataset, mechanism: str) -> None:
    """Refuse measurements of pairs of texts.

    Raises:
        ConfigError: they are.
    """
    if any("peer" in quantity.dims for quantity in data.data_vars.values()):
        raise ConfigError(
            "study=discernment has a judge score each text by itself, but mechanism="
            f"{mechanism} holds texts against one another: choose rating (an LM that chats), "
            "rating_likelihood (one that gives log-probabilities), or one of lm_examiner, "
            "pointwise5, acu_rating, gptscore, length."
        )
