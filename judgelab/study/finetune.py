"""LoRA fine-tuning of an evaluation LM on a panel of reviews (GEM paper, appendix E)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import yaml
from pydantic import Field

from judgelab.config import WRITER
from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.core.result import Headline, Result, Table, Value
from judgelab.dataset import Dataset
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.finetune import data
from judgelab.finetune.base import check, source
from judgelab.finetune.card import PROMPT, card, same_step, same_writer, usage, versions
from judgelab.finetune.data import Split, part, refuse_overlap, split
from judgelab.finetune.fit import ADAPTER, Row, Training, TrainingWatch, discard, fit, release
from judgelab.finetune.measure import Measured, measure, nothing
from judgelab.finetune.settings import Settings
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawn, Tables
from judgelab.scoring.encode import Encoder
from judgelab.scoring.source import ModelSource
from judgelab.scoring.trained_on import TRAINED_ON, training_on
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.study.common.panels import measurement_records, text_records
from judgelab.study.common.tables import WITHOUT_P, entries, estimate_table, read_by
from judgelab.study.common.templates import paragraphs, sentences

Estimates = Mapping[tuple[str, str], Estimate]
"""Of a statistic before and after, and of its change."""

TEMPLATE = "finetune.md.j2"
MEANING = {
    "loss": "Held-out loss, nats per token of the reviews",
    "gem": "PMI of held-out pairs, nats",
    "gem_s": "PMI of held-out pairs given the synopsis, nats",
}


@dataclass(frozen=True)
class Trained:
    """What a run made, for tables and the model card."""

    base: ModelSource
    papers: Split
    rows: data.Sequences
    training: Training
    backend: str


LOSSES = (
    ("training_loss", "training", style.HUES[5], ""),
    ("held_out_loss", "held-out papers", style.INK, "o"),
)


def losses(tables: Tables) -> Drawn:
    """Training and held-out loss against the step."""
    frame = tables["loss_curve"]
    figure, side = style.single(3.2)
    for column, label, colour, shape in LOSSES:
        known = frame.dropna(subset=[column]) if column in frame else frame[:0]
        if len(known):
            shown = {"color": colour, "marker": shape, "label": label}
            side.plot(known["step"], known[column], ms=4, lw=1.4, **shown)
    side.set(xlabel="Optimizer step", ylabel="Nats per token")
    side.grid(axis="y")
    side.legend(loc="upper right")
    held = "over all prompts of held-out papers" if "held_out_loss" in frame else "not measured"
    said = (
        "The training loss is a mean over the steps since the point before; the held-out loss is "
        f"{held}. {int(frame['step'].max())} steps."
    )
    return Drawn("Loss during training", figure, said)


@dataclass(frozen=True)
class Finetune(Study):
    """Fine-tune on most papers, measure on the rest, leave an adapter to score with.

    Texts come as every study gets them: dataset, agents, synopsis, preprocessor. The mechanism
    only says whether texts are preprocessed (gem: yes); nothing is scored by it, and the
    evaluation LM only writes texts. Leave attack=none.

    Args:
        settings: model, LoRA and schedule (conf/finetune).
        evaluation: a dataset whose papers must not be trained on.
        skip: so many first papers of the dataset are evaluation papers and not trained on.
        held_out: share of the other papers that only measure; 0 trains on all of them, and nothing
            is said about papers that are new to the model.
    """

    settings: Settings
    evaluation: Any = None  # Dataset | None, which the check of config types cannot express
    skip: Annotated[int, Field(ge=0)] = 0
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.1
    drawings: ClassVar[Mapping[str, Any]] = {"loss_curve": losses}

    def ask(self, context: Context) -> None:
        """See Study: texts may be written by an LM; training itself asks none."""
        self._papers(context)

    def run(self, context: Context) -> Result:
        """Measure the base, train or resume, measure the adapter, write the model card.

        Raises:
            ConfigError: the settings do not fit this machine, or an attack is chosen.
            DataError: papers overlap with evaluation papers, or are too few.
        """
        context.no_attack("finetune")
        if context.force:
            discard(context.run_dir)
        backend, base = check(self.settings), source(self.settings)
        papers = self._papers(context)
        encoder = data.encoder(self.settings, base.folder)
        rows, held = (self._sequences(panel, encoder) for panel in (papers.train, papers.held_out))
        if not rows.rows or (papers.held_out.items and not held.rows):
            raise DataError(
                "No training text is short enough: raise study.settings.max_seq_length="
                f"{self.settings.max_seq_length}."
            )
        context.tell("held-out papers, before", 0)
        before = self._measure(papers.held_out, None)
        key = _key(self.settings, base, papers, backend)
        watch = TrainingWatch(context.tell, draw=lambda row: context.draw("loss_curve", row))
        training = fit(
            *(self.settings, base, backend, rows.rows, held.rows, context.run_dir, key, watch)
        )
        context.tell("held-out papers, after", 0)
        after = self._measure(papers.held_out, str(context.run_dir.path / ADAPTER))
        made = Trained(base, papers, rows, training, backend)
        return self._report(context, made, {"before": before, "after": after})

    def _sequences(self, panel: Panel, encoder: Encoder) -> data.Sequences:
        settings = self.settings
        found = list(data.examples(panel, settings.prompt, settings.metrics))
        return data.sequences(found, encoder, settings)

    def _papers(self, context: Context) -> Split:
        """The papers to train on and to hold out, none of them an evaluation paper."""
        loaded = context.dataset.load(limit=context.limit)
        later = [k >= self.skip for k in range(len(loaded.items))]
        mine = part(loaded, later)
        refuse_overlap(mine, part(loaded, [not kept for kept in later]))
        other: Dataset | None = self.evaluation
        if other is not None:
            refuse_overlap(mine, other.load(limit=None))
        ids = {item.id for item in mine.items}
        clean = context.panels()["clean"]
        clean = part(clean, [item.id in ids for item in clean.items])
        narrowed = data.chosen(clean, self.settings.texts, self.settings.seed)
        return split(narrowed, self.held_out, self.settings.seed)

    def _measure(self, held_out: Panel, adapter: str | None) -> Measured:
        if not held_out.items:
            return nothing(self.settings.metrics)
        lm = Transformers(**self.settings.scoring, adapter=adapter)
        try:
            return measure(held_out, lm, self.settings.prompt, self.settings.metrics)
        finally:
            lm.close()
            release()

    def _report(self, context: Context, made: Trained, measured: Mapping[str, Measured]) -> Result:
        for state, found in measured.items():
            for metric, raw in found.raw.items():
                name = f"records/{state}_{metric}_measurements.parquet"
                context.run_dir.write_table(name, measurement_records(raw))
        for name, panel in (("train", made.papers.train), ("held_out", made.papers.held_out)):
            context.run_dir.write_table(f"records/{name}_texts.parquet", text_records(panel))
        figures = self._figures(measured)
        facts = self._facts(context, made)
        words = self._words(context, made, figures)
        outcome = dict(paragraphs(__package__, TEMPLATE, part="outcome", **words))
        self._describe(context, made, {**facts, "Held-out papers": outcome, "Versions": versions()})
        return Result(
            summary=self._summary(made, figures),
            primary="after/loss",
            headlines=[Headline("after/loss", "Held-out loss", lower=True)],
            tables=[_figures_table(figures, words["held"]), _curve_table(made.training.curve)],
            figures=("loss_curve",) if made.training.curve else (),
            notes=sentences(__package__, TEMPLATE, part="notes", **words),
            provenance={**facts, "versions": versions()},
            answer=paragraphs(__package__, TEMPLATE, part="answer", **words),
        )

    def _describe(
        self, context: Context, made: Trained, facts: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Leave beside the adapter what it is, its prompt, and what it was trained on."""
        command = usage(self.settings, as_trained(context))
        context.run_dir.write_text(f"{ADAPTER}/README.md", card(self.settings, command, facts))
        context.run_dir.write_text(f"{ADAPTER}/{PROMPT}", f"{self.settings.prompt.template}\n")
        loaded = context.dataset.load(limit=context.limit)
        record = training_on(self.settings.model, made.base.name, made.papers.train, loaded)
        context.run_dir.write_json(f"{ADAPTER}/{TRAINED_ON}", record.plain)

    def _figures(self, measured: Mapping[str, Measured]) -> Estimates:
        values = {state: {"loss": found.loss, **found.pmi} for state, found in measured.items()}
        after = values["after"]
        values["change"] = {name: after[name] - old for name, old in values["before"].items()}
        return {
            (state, name): item_mean(items)
            for state, group in values.items()
            for name, items in group.items()
        }

    def _facts(self, context: Context, made: Trained) -> dict[str, dict[str, Any]]:
        train, held = made.papers.train, made.papers.held_out
        origin = {
            key: value
            for key, value in train.provenance.items()
            if isinstance(value, str | int | float | bool | None)
        }
        return {
            "Base model": {"model": self.settings.model, "content": made.base.name},
            "Data": {
                **origin,
                "preprocessor": read_by(context),
                "synopsis": context.synopsis.name,
                "papers trained on": f"{len(train.items)} (digest {train.digest})",
                "papers held out": f"{len(held.items)} (digest {held.digest})",
                "training texts": len(made.rows.rows),
                "cut at max_seq_length": made.rows.cut,
                "left out": made.rows.left_out,
            },
            "Settings": {**self.settings.plain, "back end used": made.backend},
            "Training": {"steps": made.training.steps, "tokens": made.training.tokens},
        }

    def _summary(self, made: Trained, figures: Estimates) -> dict[str, Value]:
        summary: dict[str, Value] = {
            "study": "finetune",
            "settings": self.settings.name,
            "base_model": made.base.name,
            "dataset": str(made.papers.train.provenance.get("dataset", "")),
            "backend": made.backend,
            "loss_on": self.settings.loss_on,
            "papers": len(made.papers.train.items),
            "held_out_papers": len(made.papers.held_out.items),
            "training_texts": len(made.rows.rows),
            "steps": made.training.steps,
            "tokens": made.training.tokens,
        }
        for (state, name), estimate in figures.items():
            summary |= entries(f"{state}/{name}", estimate, *WITHOUT_P)
        return summary

    def _words(self, context: Context, made: Trained, figures: Estimates) -> dict[str, Any]:
        """What the template is filled with."""
        train = made.papers.train
        adapter = str(context.run_dir.path / ADAPTER)
        return {
            "settings": self.settings,
            "made": made,
            "papers": len(train.items),
            "held": len(made.papers.held_out.items),
            "command": usage(self.settings, as_trained(context), adapter),
            "too_few": int(str(train.provenance.get("too_few_texts", 0))),
            "lacking": sum(not item.synopsis for item in train.items),
            "figures": [(MEANING[name], state, one) for (state, name), one in figures.items()],
            **{state: figures[state, "loss"] for state in ("before", "after", "change")},
        }


def as_trained(context: Context) -> dict[str, Any]:
    """Overrides by which a scoring run makes texts as this run did, from the run's own config."""
    file = context.run_dir.path / "config.yaml"
    config: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    found = same_step("synopsis", context.synopsis.name, config["synopsis"])
    preprocessed = context.mechanism.reads == "preprocessed"
    if preprocessed:
        found |= same_step("preprocessor", context.preprocessor.name, config["preprocessor"])
    else:
        found["preprocessor"] = "identity"
    asked = context.synopsis.requires or (preprocessed and context.preprocessor.requires)
    return found | (same_writer(config.get(WRITER) or config["evaluation_lm"]) if asked else {})


def _key(settings: Settings, base: ModelSource, papers: Split, backend: str) -> str:
    """A hash of everything that can change the adapter."""
    parts = (settings.digest, base.name, papers.train.digest, papers.held_out.digest, backend)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _figures_table(figures: Estimates, held: int) -> Table:
    cells = [
        ({"panel": state, "statistic": name, "meaning": MEANING[name]}, one)
        for (state, name), one in figures.items()
    ]
    note = "Means over held-out papers, 95 % intervals over them; change is paired."
    if not held:
        note = "No paper was held out (study.held_out=0)."
    return estimate_table("held_out", "What fine-tuning changes on held-out papers", cells, note)


def _curve_table(curve: Sequence[Row]) -> Table:
    measured = any("held_out_loss" in row for row in curve)
    held = "over all held-out prompts" if measured else "not followed while training"
    note = (
        "Nats per predicted token; the training loss is a mean since the row before, the held-out "
        f"loss is {held}."
    )
    return Table("loss_curve", "Loss during training", curve, note)
