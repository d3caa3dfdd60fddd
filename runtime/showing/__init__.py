"""Recorded runs, read back for people: how each ended, what each agent was shown and said."""

from .recorded import Recorded
from .saying import event_text
from .viewed import Viewed

__all__ = ["Recorded", "Viewed", "event_text"]
