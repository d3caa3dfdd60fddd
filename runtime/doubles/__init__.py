"""A model that answers from a script, behind an OpenAI-compatible server on this machine.

`ScriptedModel` serves your answers, with the latency, usage and faults that you choose, and records
its requests. `python -m coterie.runtime.doubles script.yaml` serves a file.
"""

from __future__ import annotations

from .calls import Call
from .reply import FAULTS, Delivery, Fault, Reply, ScriptedCall
from .script import Replies, message_text
from .script_file import load_script
from .server import ScriptedModel

__all__ = [
    "FAULTS",
    "Call",
    "Delivery",
    "Fault",
    "Replies",
    "Reply",
    "ScriptedCall",
    "ScriptedModel",
    "load_script",
    "message_text",
]
