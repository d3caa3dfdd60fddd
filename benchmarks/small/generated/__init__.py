"""Small streams of generated tasks, as many as wanted, on five levels."""
