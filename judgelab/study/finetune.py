"""LoRA fine-tuning of an evaluation LM on a panel of reviews (GEM paper, appendix E)."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from judgelab.config.composing import differences, literal, read_option
from judgelab.config.targets import located
from judgelab.core.bounds import Positive
from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.resources import PROGRAM, conf
from judgelab.core.result import Headline, Result, Value
from judgelab.core.step import Step
from judgelab.dataset import Dataset
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.finetune import data
from judgelab.finetune.data import Examples, examples, part, refuse_overlap, split
from judgelab.finetune.fit import ADAPTER, COLUMNS, Training, discard, fit, release
from judgelab.finetune.settings import Settings, check, source, versions
from judgelab.preprocessor.identity import Identity
from judgelab.report import style
from judgelab.report.style import Drawn, Tables
from judgelab.scoring.source import LONG, TRAINED_ON, TrainedOn
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.study.common.panels import measurement_records, text_records
from judgelab.study.common.tables import WITHOUT_P, entries, estimate_rows, read_by
from judgelab.study.common.templates import caption, paragraphs, render, sentences, table

TEMPLATE = "finetune.md.j2"
MEANING = {
    "loss": "Held-out loss, nats per token of the reviews",
    "gem": "PMI of held-out pairs, nats",
    "gem_s": "PMI of held-out pairs given the synopsis, nats",
}


def losses(tables: Tables) -> Drawn:
    """Training and held-out loss against the step."""
    frame = tables["loss_curve"]
    figure, side = style.single(3.2)
    for column, label, colour, shape in (
        ("training_loss", "training", style.HUES[5], ""),
        ("held_out_loss", "held-out papers", style.INK, "o"),
    ):
        points = frame.dropna(subset=[column]) if column in frame else frame[:0]
        if len(points):
            look = {"color": colour, "marker": shape, "label": label}
            side.plot(points["step"], points[column], ms=4, lw=1.4, **look)
    side.set(xlabel="Optimizer step", ylabel="Nats per token")
    side.grid(axis="y")
    side.legend(loc="upper right")
    held_out, steps = "held_out_loss" in frame, int(frame["step"].max())
    return caption(__package__, "losses", figure, held_out=held_out, steps=steps)


BYTES = 4  # of a token, in a forecast: as dry runs count calls
PROMPT = "prompt.txt"  # the file beside the adapter that holds the prompt of the training
SPEED = frozenset({"workers", "limits", "threads", "hint", "device_map"})  # they change no text


@dataclass(frozen=True)
class PapersAtHand(Dataset):
    """Papers that are at hand: no LM is paid for texts on others."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        """See Dataset; the limit has been applied."""
        return self.panel


@dataclass(frozen=True)
class FineTuning:
    """What was trained, on what, and what that changed."""

    base: str  # the exact content of the base model
    backend: str
    train: Panel
    held_out: Panel
    rows: Examples  # of the papers that train
    training: Training
    # before, after or change; statistic; mean over held-out papers
    figures: Sequence[tuple[str, str, Estimate]]

    @property
    def sizes(self) -> dict[str, int]:
        """Papers that train, and that are held out, for templates."""
        return {"papers": len(self.train.items), "held_out": len(self.held_out.items)}


@dataclass(frozen=True)
class Finetune(Study):
    """Fine-tune on most papers, measure on the rest, leave an adapter to score with.

    Texts come as every study gets them: dataset, agents, synopsis, preprocessor. The mechanism
    only says whether texts are preprocessed (gem: yes); nothing is scored by it, and the
    evaluation LM only writes texts. Leave attack=none.

    Args:
        tokens_per_second: of training, by which a dry run reckons hours; it changes no result.
    """

    settings: Settings
    skip: Annotated[int, Field(ge=0)] = 0
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.1
    tokens_per_second: Positive = 2000.0
    drawings: ClassVar[Mapping[str, Any]] = {"loss_curve": losses}

    def ask(self, context: Context) -> None:
        """See Study: texts may be written by an LM; training itself asks none."""
        context.no_attack("finetune")
        self._texts(context)

    def forecast(self, context: Context) -> Sequence[str]:
        """See Study: base, papers, prompts, steps and hours.

        Texts that an LM is yet to make judgments of count with the length that they have now.
        """
        raw = bool(context.preprocessor.requires)
        train, held_out = self._papers(context, raw=raw)
        mine = self.settings
        prompts = list(data.prompts(train, mine))
        sizes = [len(f"{first}{text}".encode()) / BYTES for first, text in prompts]
        once = sum(min(size, mine.max_seq_length) for size in sizes)
        steps = mine.steps(len(prompts))
        words: dict[str, Any] = {"model": mine.model, "raw": raw, "bytes": BYTES}
        words |= {"papers": len(train.items), "held_out": len(held_out.items)}
        words |= {"prompts": len(prompts), "steps": steps, "speed": self.tokens_per_second}
        words["tokens"] = once * steps * mine.batch * mine.accumulate / max(len(prompts), 1)
        return sentences(__package__, TEMPLATE, part="forecast", **words)

    def run(self, context: Context) -> Result:
        """Measure the base, train or resume, measure the adapter, write the model card.

        Raises:
            ConfigError: the settings do not fit this machine, or an attack is chosen.
            DataError: papers overlap with evaluation papers, or are too few.
        """
        context.no_attack("finetune")
        settings, run_dir = self.settings, context.run_dir
        if context.force:
            discard(run_dir)
        backend, base = check(settings), source(settings)
        train, held_out = self._papers(context)
        rows = examples(train, settings, base.folder)
        held_out_rows = examples(held_out, settings, base.folder)
        if not rows.rows or (held_out.items and not held_out_rows.rows):
            raise DataError(
                "No training text is short enough: raise study.settings.max_seq_length="
                f"{settings.max_seq_length}."
            )
        context.tell("held-out papers, before", 0)
        before = self._measure(context, "before", held_out, None)
        parts = (settings.digest, base.name, train.digest, held_out.digest, backend)
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
        watch = {
            "line": lambda text: context.tell(text, 0),
            "point": lambda row: context.draw("loss_curve", row),
        }
        training = fit(settings, base, backend, rows.rows, held_out_rows.rows, run_dir, key, watch)
        context.tell("held-out papers, after", 0)
        after = self._measure(context, "after", held_out, str(run_dir.path / ADAPTER))
        for name, panel in (("train", train), ("held_out", held_out)):
            run_dir.write_table(f"records/{name}_texts.parquet", text_records(panel))
        change = {name: after[name] - old for name, old in before.items()}
        figures = [
            (state, name, item_mean(items))
            for state, group in (("before", before), ("after", after), ("change", change))
            for name, items in group.items()
        ]
        tuning = FineTuning(base.name, backend, train, held_out, rows, training, figures)
        facts = self._facts(context, tuning)
        self._write_card(context, tuning, facts)
        return self._result(context, tuning, facts)

    def _facts(self, context: Context, tuning: FineTuning) -> dict[str, dict[str, Any]]:
        """Heading -> name -> value: of the model card, and of the run's provenance."""
        train, held_out, rows = tuning.train, tuning.held_out, tuning.rows
        plain = str | int | float | None
        return {
            "Base model": {"model": self.settings.model, "content": tuning.base},
            "Data": {
                **{k: v for k, v in train.provenance.items() if isinstance(v, plain)},
                "preprocessor": read_by(context),
                "synopsis": context.synopsis.name,
                "papers trained on": f"{len(train.items)} (digest {train.digest})",
                "papers held out": f"{len(held_out.items)} (digest {held_out.digest})",
                "training texts": len(rows.rows),
                "cut at max_seq_length": rows.cut,
                "left out": rows.left_out,
            },
            "Settings": {**self.settings.plain, "back end used": tuning.backend},
            "Training": {"steps": tuning.training.steps, "tokens": tuning.training.tokens},
        }

    def _write_card(
        self, context: Context, tuning: FineTuning, facts: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Leave beside the adapter its model card, its prompt, and what it was trained on."""
        run_dir, settings = context.run_dir, self.settings
        words = {"figures": tuning.figures, "meaning": MEANING, **tuning.sizes}
        outcome = dict(paragraphs(__package__, TEMPLATE, part="outcome", **words))
        whole = {**facts, "Held-out papers": outcome, "Versions": versions()}
        command = usage(settings, _steps(context), "THIS_FOLDER")
        values = {"base": settings.model, "command": command, "facts": whole}
        card = render(__package__, "finetune_card.md.j2", **values, record=TRAINED_ON, long=LONG)
        run_dir.write_text(f"{ADAPTER}/README.md", card)
        run_dir.write_text(f"{ADAPTER}/{PROMPT}", f"{settings.prompt.template}\n")
        panel = context.dataset.load(limit=context.limit)
        record = TrainedOn.of(settings.model, tuning.base, tuning.train, panel)
        run_dir.write_json(f"{ADAPTER}/{TRAINED_ON}", asdict(record))

    def _result(self, context: Context, tuning: FineTuning, facts: Mapping[str, Any]) -> Result:
        settings, training, train = self.settings, tuning.training, tuning.train
        summary: dict[str, Value] = {
            "study": "finetune",
            "settings": settings.name,
            "base_model": tuning.base,
            "dataset": str(train.provenance.get("dataset", "")),
            "backend": tuning.backend,
            "loss_on": settings.loss_on,
            "papers": len(train.items),
            "held_out_papers": len(tuning.held_out.items),
            "training_texts": len(tuning.rows.rows),
            "steps": training.steps,
            "tokens": training.tokens,
        }
        cells = []
        for state, name, one in tuning.figures:
            summary |= entries(f"{state}/{name}", one, *WITHOUT_P)
            cells.append(({"panel": state, "statistic": name, "meaning": MEANING[name]}, one))
        curve = [{name: row[name] for name in COLUMNS if name in row} for row in training.curve]
        losses = {state: one for state, name, one in tuning.figures if name == "loss"}
        words: dict[str, Any] = {"settings": settings, "tuning": tuning}
        words["command"] = usage(settings, _steps(context), str(context.run_dir.path / ADAPTER))
        words["too_few"] = int(str(train.provenance.get("too_few_texts", 0)))
        words["lacking"] = sum(not item.synopsis for item in train.items)
        return Result(
            summary=summary,
            primary="after/loss",
            headlines=[Headline("after/loss", "Held-out loss", lower=True)],
            tables=[
                table(__package__, "held_out", estimate_rows(cells), **tuning.sizes),
                table(__package__, "loss_curve", curve),
            ],
            figures=("loss_curve",) if curve else (),
            notes=sentences(__package__, TEMPLATE, part="notes", **words, **tuning.sizes),
            provenance={**facts, "versions": versions()},
            answer=paragraphs(__package__, TEMPLATE, part="answer", **losses, **tuning.sizes),
        )

    def _papers(self, context: Context, *, raw: bool = False) -> tuple[Panel, Panel]:
        narrowed = data.sample_texts(
            self._texts(context, raw=raw), self.settings.texts, self.settings.seed
        )
        return split(narrowed, self.held_out, self.settings.seed)

    def _texts(self, context: Context, *, raw: bool = False) -> Panel:
        """The papers that are no evaluation papers; ``raw``: as written, not as preprocessed."""
        panel = context.dataset.load(limit=context.limit)
        later = [k >= self.skip for k in range(len(panel.items))]
        mine = part(panel, later)
        refuse_overlap(mine, part(panel, [not inside for inside in later]))
        return replace(context, dataset=PapersAtHand(mine)).panels(raw=raw)["clean"]

    def _measure(
        self, context: Context, state: str, held_out: Panel, adapter: str | None
    ) -> dict[str, Floats]:
        lm = Transformers(**self.settings.scoring, adapter=adapter) if held_out.items else None
        try:
            values, raw = data.measure(held_out, lm, self.settings)
        finally:
            if lm is not None:
                lm.close()
                release()
        for metric, measurements in raw.items():
            records = measurement_records(measurements)
            context.run_dir.write_table(f"records/{state}_{metric}_measurements.parquet", records)
        return values


def _steps(context: Context) -> dict[str, str]:
    """Synopsis and preprocessor of the texts, by their options."""
    own = context.preprocessor if context.mechanism.reads == "preprocessed" else Identity()
    return {"synopsis": context.synopsis.name, "preprocessor": option_of(own)}


def option_of(preprocessor: Step) -> str:
    """The option of conf/preprocessor that is of its class and its task; else its name."""
    kind, task = type(preprocessor), vars(preprocessor).get("task")
    for file in sorted((conf() / "preprocessor").glob("*.yaml")):
        option = read_option(file)
        if located(option["_target_"], file.stem) is kind and option.get("task") == task:
            return file.stem
    return preprocessor.name


def usage(settings: Settings, steps: Mapping[str, str], adapter: str) -> str:
    """The command that scores with an adapter, without a dataset.

    Args:
        steps: synopsis and preprocessor of the texts that trained it, by their options.
    """
    option = read_option(conf() / "evaluation_lm" / "transformers.yaml")
    scoring = {key: value for key, value in settings.scoring.items() if key not in SPEED}
    overrides: dict[str, Any] = {**steps, **dict(differences("evaluation_lm", option, scoring))}
    overrides["evaluation_lm.adapter"] = adapter
    if settings.prompt.identity != Prompt("second_opinion.txt").identity:  # mechanism=gem's own
        overrides["mechanism.prompt.file"] = f"{adapter}/{PROMPT}"
    words = [f"{key}={literal(value)}" for key, value in overrides.items()]
    return f"{PROGRAM} mechanism=gem evaluation_lm=transformers {shlex.join(words)}"
