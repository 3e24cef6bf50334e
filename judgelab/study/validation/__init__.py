"""Does a metric fall when texts get worse, and not rise when manipulated? (GEM paper)"""

from judgelab.study.validation.study import Validation

__all__ = ["Validation"]
