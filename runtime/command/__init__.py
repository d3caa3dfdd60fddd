"""Commands of the interpreter: `mas-run`, `mas doctor` and `mas dev models`."""
