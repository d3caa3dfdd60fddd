"""The commands of `mas-bench`."""
