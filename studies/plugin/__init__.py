"""Makes the scorers and strategies of studies known, as those of an installed plug-in are."""

import sys
from pathlib import Path

from coterie.schema.host.catalogue import installed

__all__ = ["register"]


def register(folder: Path = Path(__file__).parent) -> None:
    """Add a folder that declares entry points to where packages are looked for."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        installed.cache_clear()
