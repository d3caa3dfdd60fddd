"""Repository repair as SWE-bench does it: instances, predictions, and grading without Docker."""
