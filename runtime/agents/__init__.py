"""What a run knows of one agent: the protocol of runners, outcomes, acts, and its round state."""
