"""BIG-Bench Extra Hard and its mini set: tasks, and the original verdicts."""
