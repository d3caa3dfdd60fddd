"""A simulated landscape: how well a team does is known, and so is the best that any team can do.

`world` says what a team is worth, `meta` is a meta-model of known skill, `gateway` puts both in
the place of models, `trials` evolves teams there, and `python -m studies.landscape`
compares ways to evolve.
"""
