"""The edits that a model may choose from, as a strict JSON Schema."""
