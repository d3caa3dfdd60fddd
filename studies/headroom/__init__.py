"""What edits by people are worth on the generated streams."""
