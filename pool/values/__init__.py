"""Values of a pool: members, agents, identity, statistics, intervals, layout of its folder."""
