"""The result of an evolution: its report, held-out scores, and what it will cost."""
