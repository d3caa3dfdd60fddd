"""TacoMAS: a team adapts to a task between rounds, by coaching and restructuring."""
