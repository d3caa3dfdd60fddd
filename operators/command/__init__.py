"""Commands: `mas-evolve`, `mas dev op` and `mas dev blame`."""
