"""What teams are expected to score, and how sure that is."""
