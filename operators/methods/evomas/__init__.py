"""EvoMAS: select parents, instantiate, mutate or cross over, consolidate."""
