"""What a pool's agents are good at, alone and together, and how that changed."""
