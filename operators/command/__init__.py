"""Commands of this floor: `mas-evolve` and `mas dev op`."""
