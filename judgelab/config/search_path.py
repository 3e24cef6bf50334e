"""Where Hydra looks for options beside conf/: those of the papers' figures, and the user's own."""

from __future__ import annotations

from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin

from judgelab.core.resources import conf


class OwnFolders(SearchPathPlugin):
    """Adds ``conf/papers``, and a folder ``conf`` of the working directory that is not ours.

    What the user's folder holds comes after ours: it adds options, and replaces none.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """See SearchPathPlugin."""
        search_path.append("judgelab", f"file://{conf() / 'papers'}")
        own = Path.cwd() / "conf"
        if own.is_dir() and own.resolve() != conf().resolve():
            search_path.append("working directory", f"file://{own}")


def register() -> None:
    """Tell Hydra; once, however often it is called."""
    if OwnFolders not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(OwnFolders)
