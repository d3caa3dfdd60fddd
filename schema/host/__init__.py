"""The host's offers and permissions: models, tools, scorers, and the fields of its files."""
