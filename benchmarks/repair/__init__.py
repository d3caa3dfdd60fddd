"""Repository repair as in SWE-bench: instances, predictions, and grading without Docker."""
