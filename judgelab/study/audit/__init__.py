"""Can I trust this judge on my data?"""

from judgelab.study.audit.study import Audit

__all__ = ["Audit"]
