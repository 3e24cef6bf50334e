"""Property tests judge by what they find, not by how busy the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unit", deadline=None, print_blob=True)
settings.load_profile("unit")
