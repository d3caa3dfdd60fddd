"""A simulated stream on which a team fails for known reasons, each of which one level can mend.

`landscapes` has the numbers, `world` says which parts of an order come out right, `minds` what
those who look back make of what they are shown, `texts` has the words. Models are simulated, and
nothing else: `python -m studies.retrospect` compares the strategy `meta_team` with what
it is without each of its parts.
"""
