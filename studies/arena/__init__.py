"""Arenas of simulated worlds with all methods, and checks of what an arena says of its cost.

`python -m studies.arena` prints the tables of docs/research/arena.md, `python -m
studies.arena.planned` sets plans beside what was spent, and `python -m studies.arena.ledgers`
compares the tables of an arena with its journals.
"""
