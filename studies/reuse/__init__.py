"""What children save that reuse their parents' answers, and what sharing them does to luck.

`asked` counts calls by the kind of edit, on the seed teams; `luck` evolves teams in worlds in which
everybody's worth is known; `python -m studies.reuse` prints both tables.
"""
