"""Draws: proposals that need no model, by kind."""

from .kinds import KINDS
from .source import Draw, DrawnFrom

__all__ = ["KINDS", "Draw", "DrawnFrom"]
