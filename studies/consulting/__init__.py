"""A simulated consultation: what each specialist is worth in it can be computed exactly.

`landscapes` has the numbers, `world` says what is read, decided and worth, `gateway` answers as
the world says in the place of models, and `python -m studies.consulting` compares
schemes of credit with the truth, and what experience that they select is worth.
"""
