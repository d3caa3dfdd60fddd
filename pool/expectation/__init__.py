"""The expected scores of teams, with intervals."""
