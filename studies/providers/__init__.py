"""What works with which provider: the real gateway against doubles that answer as providers do."""

from __future__ import annotations

from .cells import CELLS
from .table import judged
from .verdict import Verdict

__all__ = ["CELLS", "Verdict", "judged"]
