"""How much an operator reads and writes, by the size of the model that it asks."""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.host.models import Model

MOST_CALLS = 2
"""How often an operator asks at most: once, and once more for a repair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """How much an operator reads and writes.

    Attributes:
        edits: The most edits in one answer.
        characters: The most characters of a text that is written: a prompt, a summary.
        reason: The most characters of a reason.
        digest_tokens: The most tokens of the digest of one run, by estimate.
        team_characters: The most characters of a team as it is shown; a larger one is outlined.
        task_characters: The most characters of a task as it is shown.
        trace_characters: The most characters of the steps of a run, where it is shown whole.
        memories: The most entries of the memory that are shown.
    """

    edits: int = 80
    characters: int = 4_000
    reason: int = 600
    answer_tokens: int = 4_096
    digest_tokens: int = 1_500
    team_characters: int = 16_000
    task_characters: int = 6_000
    trace_characters: int = 400_000
    memories: int = 5

    @classmethod
    def of(cls, model: Model | None) -> Bounds:
        """Choose them for a model. The embedded one gets few words, and writes one edit."""
        return SMALL if model is not None and model.is_embedded else cls()


SMALL = Bounds(
    edits=1,
    characters=240,
    reason=80,
    answer_tokens=512,
    digest_tokens=120,
    team_characters=500,
    task_characters=300,
    trace_characters=6_000,
    memories=1,
)
"""For a model that reads 140 tokens a second and gets lost in long texts."""
