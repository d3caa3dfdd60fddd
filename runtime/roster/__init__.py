"""The open roster: agents that are started, stopped and written to while the team works."""
