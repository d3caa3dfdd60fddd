"""Rounds: the agents of a team work again and again, as `execution.rounds` declares."""
