"""A population of agents: who works together, what they teach each other, and who is among them.

It implements EvoChamber (arXiv:2605.11136): teams are composed by competence, leaders choose
structures, lessons reach the agents that they help, and the roster changes.
"""
