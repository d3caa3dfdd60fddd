"""What this host offers and allows: models, tools, scorers, and the fields of its files."""
