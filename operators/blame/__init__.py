"""Blame: which agent made a team fail, at which step, and why (Meta-Team, App. C).

`FailedRun` is the common form of a recorded run (`trace_of`) and a published failure. `attribute`
asks a model about it in one of three schemes. `local_vote` and `collaborative_vote` are the rules
that turn many opinions into one `BlameVerdict`.
"""

from .attributing import attribute
from .finding import Finding
from .reading import trace_of, trace_of_events
from .trace import FailedRun, RunStep
from .verdict import SCHEMES, BlameVerdict, Scheme
from .view import TextBudget, view
from .votes import Pair, Submission, Vote, collaborative_vote, local_vote

__all__ = [
    "SCHEMES",
    "BlameVerdict",
    "FailedRun",
    "Finding",
    "Pair",
    "RunStep",
    "Scheme",
    "Submission",
    "TextBudget",
    "Vote",
    "attribute",
    "collaborative_vote",
    "local_vote",
    "trace_of",
    "trace_of_events",
    "view",
]
