"""Instances of repair from a fix and its tests: `python -m studies.repair`."""
