"""WorkBench: a workplace of five tables and 27 tools, and the original verdicts."""
