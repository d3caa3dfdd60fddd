"""WorkBench: verdicts on predictions that its own runs recorded, `python -m studies.workbench`."""
