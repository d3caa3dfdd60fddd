"""A whole run: passes, score, folder, services of the host, and the Python API."""
