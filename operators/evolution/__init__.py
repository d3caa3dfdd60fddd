"""Evolutions: a stream of tasks, one episode each, journaled and resumable."""
