"""From a command line to objects: composed configs checked, built, and run under Hydra."""

from judgelab.config.build import (
    AXES,
    ROLES,
    WRITER,
    Budget,
    Frame,
    build,
    fitting,
    frame,
    resolved,
    writer_nodes,
)
from judgelab.config.composing import register

register()

__all__ = ["AXES", "ROLES", "WRITER", "Budget", "Frame"]
__all__ += ["build", "fitting", "frame", "resolved", "writer_nodes"]
