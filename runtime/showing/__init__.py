"""Recorded runs, read back for people: how each ended, what each agent was shown and said."""
