"""The lifecycle of a roster: fork, merge, prune, genesis, specialize."""
