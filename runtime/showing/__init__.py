"""Recorded runs, read back for people: how each ended, what each agent was shown and said."""

from .recorded import Recorded
from .saying import event_text
from .viewed import Overview, Viewed

__all__ = ["Overview", "Recorded", "Viewed", "event_text"]
