"""Commands of the interpreter: `mas-run`, `mas doctor` and `mas models`."""
