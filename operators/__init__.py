"""What rewrites teams between tasks: operators, and the strategies that say which acts when.

An operator reads teams, traces and memory and answers with edits, never with a rewritten file:
select, mutate, crossover and consolidate on teams; fork, merge, prune and genesis on rosters.
`operators/strategies/` will hold one loop per paper (EvoMAS, EvoChamber, Meta-Team, TacoMAS,
MATTRL).
"""
