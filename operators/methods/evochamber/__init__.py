"""A population of agents: who works together, what they teach each other, and who is among them.

What EvoChamber is made of (arXiv:2605.11136): teams that are composed by what agents have come to
be good at, structures that their leader chooses, lessons that reach whom they help, and a roster
that changes.
"""
