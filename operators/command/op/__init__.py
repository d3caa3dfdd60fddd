"""`mas dev op`: one command for each operator, made from its parameters."""
