"""How finely does a judge discern degraded texts? (DHP paper)"""

from judgelab.study.discernment.study import Discernment

__all__ = ["Discernment"]
