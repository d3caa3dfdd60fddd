"""The archive of a merged agent: near-duplicates of its two parents' archives are fused.

The heir shares both archives by reference. So each fused entry is given to the two parents before
the heir is born, and replaces both parents' own entries (EvoChamber App. E.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .....pool.ledger.learnt import Learnt
from .....runtime.values.together import together
from ....core.operator import operator_of
from ....core.proposal import RejectedProposal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....evolution.episode import Episode

MOST_FUSED = 10
"""The most near-duplicates that a merge fuses; the others stay unchanged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heritage:
    """The entries to keep before an heir is born.

    Attributes:
        entries: Entries that each replace one entry of either archive.
        left: The number of near-duplicates beyond the limit, which stay unchanged.
    """

    entries: tuple[Learnt, ...] = ()
    left: int = 0
    rejected: tuple[RejectedProposal, ...] = ()


async def heritage(episode: Episode, path: str, first: str, second: str) -> Heritage:
    """Fuse the near-duplicates of two archives, the most similar first, concurrently.

    Args:
        path: The prefix of its questions' paths: `task 12/lifecycle/1 merge/`.
    """
    pairs = _pairs(episode, first, second)
    same = [pair for pair in pairs if pair[0].text == pair[1].text]
    others = [pair for pair in pairs if pair[0].text != pair[1].text]
    fused = others[:MOST_FUSED]
    result = await together(
        *(
            operator_of("fuse").act(
                episode.meta_model, f"{path}fuse {number}", mine.text, theirs.text
            )
            for number, (mine, theirs) in enumerate(fused)
        )
    )
    outcome = [*((pair, pair[0].text) for pair in same), *zip(fused, result, strict=True)]
    return Heritage(
        entries=tuple(
            _entry(pair, text, (first, second)) for pair, text in outcome if isinstance(text, str)
        ),
        left=len(others) - len(fused),
        rejected=tuple(text for text in result if isinstance(text, RejectedProposal)),
    )


def _pairs(episode: Episode, first: str, second: str) -> Sequence[tuple[Learnt, Learnt]]:
    """Return near-duplicates of two archives, the most similar first; no entry occurs twice."""
    rows = sorted(_similar(episode, first, second), key=lambda near: (-near[2], near[0].id))
    pairs, used = list[tuple[Learnt, Learnt]](), set[str]()
    for mine, theirs, _ in rows:
        if not used & {mine.id, theirs.id}:
            used |= {mine.id, theirs.id}
            pairs.append((mine, theirs))
    return pairs


def _similar(episode: Episode, first: str, second: str) -> Iterator[tuple[Learnt, Learnt, float]]:
    """Yield the near-duplicates of two archives, with their similarity.

    Entries from a common ancestor are excluded, because they are one entry already. So are entries
    that this episode has replaced.
    """
    view, over = episode.view, episode.settings.dedup
    old_ids = {entry.id for entry in view.archive(first)} & {
        entry.id for entry in view.archive(second)
    }
    old_ids |= {
        old for new, _ in episode.changes if isinstance(new, Learnt) for old in new.replaces
    }
    for mine in view.archive(first):
        if mine.id in old_ids:
            continue
        near = view.alike(mine.text, second, kind=mine.kind, niche=mine.niche, over=over)
        for theirs, similarity in near:
            if theirs.id not in old_ids and theirs.niche == mine.niche:
                yield mine, theirs, similarity


def _entry(pair: tuple[Learnt, Learnt], text: str, owners: tuple[str, str]) -> Learnt:
    """Return the entry that replaces a pair, in both archives: the second with a new text."""
    replaces = tuple(learnt.id for learnt in pair)
    return replace(pair[1], text=text, owner=None, to=owners, giver=None, replaces=replaces, id="")
