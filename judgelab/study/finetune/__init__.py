"""LoRA fine-tuning of an evaluation LM on a panel of reviews (GEM paper, appendix E)."""

from judgelab.study.finetune.study import Finetune

__all__ = ["Finetune"]
