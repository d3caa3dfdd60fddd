"""Files in which other programs describe teams: they are recognised, and can be taken over.

`recognition` tells what a file is, which every command that reads teams asks; `taking_over` reads
one, for `mas dev import`.
"""

from ..loading.recognition import CREWAI, DOCKER_AGENT, program_of

__all__ = ["CREWAI", "DOCKER_AGENT", "program_of"]
