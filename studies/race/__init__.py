"""Worlds in which the best edit is known, the strategy `race` in them, and its rivals beside it.

`worlds` has the rules, which were settled before any result; `gateway` answers agents and the
judge by them, `proposing` answers operators. `trials` runs the strategies of this package, `gepa`
an optimizer of somebody else with the same model and the same budget. `python -m studies.race`
prints the tables of docs/research/race-measured.md.
"""
