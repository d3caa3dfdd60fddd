"""The templates of these pages."""

from __future__ import annotations

from pathlib import Path

from ...runtime.view import Templates

TEMPLATES = Templates(folder=Path(__file__).parent)
