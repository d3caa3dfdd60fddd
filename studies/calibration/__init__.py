"""Whether what a pool says of its teams is true, in worlds in which that is known.

`world` says what teams are worth, `evolving` evolves teams there by the loop that users have,
`quick` by the same rules and the same pool in memory, `measures` compares what the pool says with
the truth, and `python -m studies.calibration` prints the tables of docs/research/calibration.md.
"""
