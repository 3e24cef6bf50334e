"""Does a metric punish degradation and resist manipulation?"""

from judgelab.study.validation.study import Validation, rows_of

__all__ = ["Validation", "rows_of"]
