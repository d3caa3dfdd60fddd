"""Rounds: the agents of a team work repeatedly, as `execution.rounds` declares."""
