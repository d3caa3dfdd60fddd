"""What a team does when a task is over: it looks back, and changes itself by what it found.

What Meta-Team is made of: every agent in its own conversation, those who worked together in pairs,
and the team as a whole; and a gate that what they come to has to pass.
"""
