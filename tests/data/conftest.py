"""How the properties of files are tried."""

from __future__ import annotations

from hypothesis import settings

# Files and libraries that are loaded at first use make single examples slow.
settings.register_profile("files", deadline=None)
settings.load_profile("files")
