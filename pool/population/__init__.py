"""The competence of a pool's agents, alone and together, and its development."""
