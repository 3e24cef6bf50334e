"""The training itself: transformers' Trainer, with checkpoints that survive a kill."""

from __future__ import annotations

import json
import math
import resource
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn.utils.rnn import pad_sequence

from judgelab.core.errors import ConfigError
from judgelab.finetune.data import IGNORED, Example
from judgelab.finetune.fit import Job, Send, Training, curve
from judgelab.finetune.settings import WHERE, Settings
from judgelab.scoring.load import Form

COMPLETE = "COMPLETE"  # a file that a checkpoint holds once everything else of it is written
KEPT = 2  # checkpoints: while one is written, the one before it stays


def train(model: Any, form: Form, job: Job, send: Send) -> Training:
    """Train the LoRA weights of ``model``, from the job's last whole checkpoint if any."""
    settings, folder = job.settings, job.checkpoints
    checkpoint, begun, seconds = last_whole(folder), 0, 0.0
    if checkpoint is not None:
        begun = int(checkpoint.name.partition("-")[2])
        seconds = float(json.loads((checkpoint / COMPLETE).read_text(encoding="utf-8"))["seconds"])
    followed = list(job.held_out) if settings.evaluate_every is not None else []
    trainer = _Trainer(
        model=model,
        args=_arguments(settings, form, folder, bool(followed), first=checkpoint is None),
        train_dataset=list(job.rows),
        eval_dataset=followed or None,
        data_collator=_collate,
        callbacks=[_Callback(send, folder, seconds)],
    )
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)  # stdout is not its
    start = time.monotonic()
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    state = trainer.state
    return Training(
        steps=state.global_step,
        tokens=int(state.num_input_tokens_seen),
        seconds=seconds + time.monotonic() - start,
        curve=curve(state.log_history),
        resumed_at=begun,
        peak_gib=_peak(form.device_map),
    )


def _peak(device: str) -> float | None:
    if device != "cpu" and torch.cuda.is_available():
        return round(torch.cuda.max_memory_allocated() / 2**30, 2)
    if sys.platform != "linux":  # elsewhere ru_maxrss is counted otherwise
        return None
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)


def last_whole(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; later, broken ones are removed."""
    whole = sorted(
        (path for path in folder.glob("checkpoint-*") if path.name[11:].isdigit()),
        key=lambda path: int(path.name[11:]),
    )
    while whole and not (whole[-1] / COMPLETE).is_file():
        shutil.rmtree(whole.pop())
    return whole[-1] if whole else None


def _arguments(
    settings: Settings, form: Form, folder: Path, evaluate: bool, first: bool
) -> transformers.TrainingArguments:
    on_cpu = form.device_map == "cpu"
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        warmup_steps=settings.warmup_steps,
        num_train_epochs=settings.epochs,
        max_steps=settings.max_steps or -1,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        optim=settings.optimizer,
        weight_decay=settings.weight_decay,
        seed=settings.seed,
        bf16=form.dtype == "bfloat16" and not on_cpu,
        fp16=form.dtype == "float16" and not on_cpu,
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu,
        logging_strategy="steps",
        logging_steps=settings.log_every,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=settings.evaluate_every,
        eval_on_start=evaluate and first,
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=KEPT,
        include_num_input_tokens_seen="non_padding",
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        disable_tqdm=True,
    )
    # transformers multiplies the batch by the GPUs that it sees: with eight of them a step would
    # read eight times as much, and the same epochs would be an eighth of the steps
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments


def _collate(rows: list[Example]) -> dict[str, torch.Tensor]:
    def padded(values: Iterable[Sequence[int]], filler: int) -> torch.Tensor:
        tensors = [torch.tensor(one) for one in values]
        return pad_sequence(tensors, batch_first=True, padding_value=filler)

    return {
        "input_ids": padded((row.input_ids for row in rows), 0),
        "attention_mask": padded(([1] * len(row.input_ids) for row in rows), 0),
        "labels": padded((row.labels for row in rows), IGNORED),
    }


class _Trainer(transformers.Trainer):
    """Its evaluation is the mean over tokens, not the mean of the batches' means."""

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """The loss on the held-out sequences, nats per token predicted."""
        model: Any = self.model
        model.eval()
        total, count = 0.0, 0
        with torch.no_grad(), self.compute_loss_context_manager():
            for batch in self.get_eval_dataloader():
                batch = self._prepare_inputs(batch)
                predicted = int((batch["labels"][:, 1:] != IGNORED).sum())
                total += float(model(**batch).loss) * predicted
                count += predicted
        model.train()
        metrics = {"eval_loss": total / count}
        self.log(metrics)
        handler = self.callback_handler
        self.control = handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _Callback(transformers.TrainerCallback):
    """Tells how far it is, marks whole checkpoints, and stops when the loss is not a number."""

    def __init__(self, send: Send, folder: Path, seconds: float) -> None:
        self._send, self._folder, self._spent = send, folder, seconds
        self._first, self._started = 0, time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._first, self._started = state.global_step, time.monotonic()
        self._send("line", f"fine-tuning: step {self._first} of {state.max_steps}")
        for row in curve(state.log_history):  # of the executions before this one
            self._send("point", row)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        logs: Mapping[str, float] = kwargs["logs"]
        loss, step = logs.get("loss", logs.get("eval_loss")), state.global_step
        if loss is None:
            return
        if not math.isfinite(loss):
            raise ConfigError(
                f"The loss is not a number after {step} steps: lower "
                f"{WHERE}.learning_rate={args.learning_rate}."
            )
        line = f"fine-tuning: step {step} of {state.max_steps}, loss {loss:.3f}"
        if step > self._first:
            a_step = (time.monotonic() - self._started) / (step - self._first)
            line += f", {a_step * (state.max_steps - step) / 60:.0f} min left"
        self._send("line", line)
        for row in curve([{"step": step, "epoch": state.epoch or 0.0, **logs}]):
            self._send("point", row)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        seconds = self._spent + time.monotonic() - self._started
        place = self._folder / f"checkpoint-{state.global_step}"
        part = place / f".{COMPLETE}"
        part.write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        part.replace(place / COMPLETE)
