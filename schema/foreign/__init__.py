"""Files in which other programs describe teams, and their conversion.

`recognition` identifies the program of a file, for all commands that read teams; `taking_over`
converts one, for `mas dev import`.
"""

from ..loading.recognition import CREWAI, DOCKER_AGENT, program_of

__all__ = ["CREWAI", "DOCKER_AGENT", "program_of"]
