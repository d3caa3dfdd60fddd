"""Model calls of runs and operators: journaled, cached, and trimmed if too long."""
