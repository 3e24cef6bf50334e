"""``study=audit``: can I trust this judge on my data, why, and what do I need?"""

from judgelab.study.audit.study import Audit

__all__ = ["Audit"]
