"""Small streams of real and of generated tasks, scored exactly."""
