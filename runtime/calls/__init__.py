"""Model calls of runs and operators: journaled, cached, and trimmed where they are too long."""
