"""Where Hydra looks for options beside conf/: those of the papers' figures, and the user's own."""

from __future__ import annotations

import sys
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin

from judgelab.core.resources import conf


class OwnFolders(SearchPathPlugin):
    """Adds ``conf/papers``, and a folder ``conf`` of the working directory that holds options.

    What the user's folder holds comes after ours: it adds options, and replaces none. A folder with
    a ``config.yaml`` is another program's, one with ``local/default.yaml`` would change settings
    that nobody named: both are left alone, and so is any where ``--config-dir`` names another.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """See SearchPathPlugin; other programs' search paths are not touched."""
        places = [str(entry.path).removeprefix("file://") for entry in search_path.get_path()]
        if not any(Path(place).resolve() == conf().resolve() for place in places):
            return
        search_path.append("judgelab", f"file://{conf() / 'papers'}")
        own = Path.cwd() / "conf"
        named = any(word.startswith(("--config-dir", "-cd")) for word in sys.argv[1:])
        if own.is_dir() and own.resolve() != conf().resolve() and not named and not _foreign(own):
            search_path.append("working directory", f"file://{own}")


def _foreign(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("config.yaml", "local/default.yaml"))


def register() -> None:
    """Tell Hydra; once, however often it is called."""
    if OwnFolders not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(OwnFolders)
