"""A team looks back on a task, and changes itself by what it finds (Meta-Team §3.2).

There are three levels, in order. At L1, each agent reviews itself (`retrospect`). At L2, pairs that
worked together review each other (`settle`). At L3, the team reviews its rules and its roster
(`reorganise`). `look_back` runs all of them. No agent reads the whole trace: it continues its own
conversation, and gets a short account of the result. The answers become edits. The caller sets the
owner of each edit, and `gate` decides which of them are kept.
"""

from .evidence.conversation import interactions, speakers
from .evidence.evidence import EvidenceExchange
from .evidence.feedback import TaskFeedback
from .evidence.ground import Ground
from .gate import Passed, gate
from .limits import PhaseLimits
from .reorganise import Reorganised, reorganise
from .retrospect import Reflected, retrospect
from .retrospective import Retrospective, Tally, look_back
from .room import NoteLimits
from .settings import RetrospectiveSettings

__all__ = [
    "EvidenceExchange",
    "Ground",
    "NoteLimits",
    "Passed",
    "PhaseLimits",
    "Reflected",
    "Reorganised",
    "Retrospective",
    "RetrospectiveSettings",
    "Tally",
    "TaskFeedback",
    "gate",
    "interactions",
    "look_back",
    "reorganise",
    "retrospect",
    "speakers",
]
