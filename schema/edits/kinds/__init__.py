"""The kinds of edits, one class each."""
