"""A team looks back on a task, and changes itself by what it finds (Meta-Team §3.2).

Three levels, one after the other: agents on themselves (`retrospect`, L1), pairs that worked
together on each other (`settle`, L2), the team on its rules and its roster (`reorganise`, L3);
`look_back` goes through all of them. Nobody reads all that happened: an agent goes on with its own
conversation, and the team is told a few words. What comes of it are edits, whose owner is filled in
by who asks, and `gate` says which of them may be kept.
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
