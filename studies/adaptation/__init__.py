"""A simulated landscape of rounds: what a team is worth while it adapts to a task is known.

`world` says what a team is worth on a task with the coaching and the edges that it has, `meta` is
a meta-model of known skill, `gateway` puts both in the place of models, and
`python -m studies.adaptation` compares ways to adapt.
"""
