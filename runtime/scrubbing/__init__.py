"""Takes secrets out of everything that is written, in whatever encoding they stand."""
