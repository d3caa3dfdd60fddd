"""What a model may choose from when it is asked for edits, as a strict JSON Schema."""
