"""Which judges are fit to judge, and what do they say together? (Auto-PRE paper)"""

from judgelab.study.qualification.study import Qualification

__all__ = ["Qualification"]
