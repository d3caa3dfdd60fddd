"""How often an embedder finds the other wording of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .pairs import PAIRS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.pool.embedding import Embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """Shares in [0, 1] of all searches.

    Attributes:
        at_1: The other wording came first.
        at_5: It was among the first five.
        reciprocal_rank: The mean of one over its rank.
    """

    at_1: float
    at_5: float
    reciprocal_rank: float


def retrieval(embedder: Embedder) -> Retrieval:
    """Look for the other wording of each text of `PAIRS` among all other texts."""
    vectors = embedder.embed([text for pair in PAIRS for text in pair])
    ranks = [_rank(number, vectors) for number in range(len(vectors))]
    return Retrieval(
        at_1=sum(rank == 1 for rank in ranks) / len(ranks),
        at_5=sum(rank <= 5 for rank in ranks) / len(ranks),
        reciprocal_rank=sum(1 / rank for rank in ranks) / len(ranks),
    )


def _rank(number: int, vectors: Sequence[Sequence[float]]) -> int:
    """Return the place of the other wording, its neighbour in the list; the last among equals."""
    other = number ^ 1
    cosines = [sum(a * b for a, b in zip(vectors[number], v, strict=True)) for v in vectors]
    rivals = set(range(len(vectors))) - {number, other}
    return 1 + sum(cosines[rival] >= cosines[other] for rival in rivals)
