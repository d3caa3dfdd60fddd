"""How much an operator reads and writes, by the size of the operator model."""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.host.models import Model

MOST_CALLS = 2
"""The most model calls of an operator: one, and one repair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """How much an operator reads and writes.

    Attributes:
        edits: The most edits in one answer.
        characters: The most characters of a written text, such as a prompt or a summary.
        reason: The most characters of a reason.
        digest_tokens: The most tokens of the digest of one run, by estimate.
        team_characters: The most characters of a shown team; a larger team is outlined.
        task_characters: The most characters of a shown task.
        trace_characters: The most characters of a run's steps, if they are shown in full.
        memories: The most memory entries to show.
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
        """Return the bounds for a model. An embedded model reads little and writes one edit."""
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
"""For a model that reads 140 tokens a second and loses the thread in long texts."""
