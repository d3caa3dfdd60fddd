"""A simulated world for a population: which lessons are true, and what they are worth, is known.

`landscapes` has the numbers, `world` says who is right and by which method, `gateway` and `meta`
answer as the world says in the place of models, and `python -m studies.chamber` compares
the strategy `evochamber` with its ablations and baselines.
"""
