"""Blame: which agent made a team fail, at which step, and why (Meta-Team, App. C).

`Trace` is what both a run of ours (`trace_of`) and a published failure give, `attribute` asks a
model about it in three schemes, and `local_vote` and `collaborative_vote` are the rules by which
many opinions become one `Verdict`.
"""

from .attributing import attribute
from .finding import Finding
from .reading import trace_of, trace_of_events
from .trace import Step, Trace
from .verdict import SCHEMES, Scheme, Verdict
from .view import Room, view
from .votes import Pair, Submission, Vote, collaborative_vote, local_vote

__all__ = [
    "SCHEMES",
    "Finding",
    "Pair",
    "Room",
    "Scheme",
    "Step",
    "Submission",
    "Trace",
    "Verdict",
    "Vote",
    "attribute",
    "collaborative_vote",
    "local_vote",
    "trace_of",
    "trace_of_events",
    "view",
]
