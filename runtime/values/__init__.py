"""Values that the whole runtime shares: usage, budgets, scores, warnings, bounds.

These modules import nothing else of the runtime.
"""
