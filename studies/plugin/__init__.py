"""Makes the scorers of the simulated worlds known, as those of an installed plug-in are."""

import sys
from pathlib import Path

from coterie.schema.host.catalogue import installed

__all__ = ["register"]

FOLDER = str(Path(__file__).parent)


def register() -> None:
    """Add the folder that declares the scorers to where packages are looked for."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
        installed.cache_clear()
