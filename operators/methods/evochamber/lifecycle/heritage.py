"""What two agents that are merged leave to one: near-duplicates of their archives become one entry.

The heir has both archives by reference. So what is fused is given to the two before it is born, in
the place of what each of them had (EvoChamber App. E.1).
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
"""Questions at a merge: so many near-duplicates are fused at most. The rest stays as it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heritage:
    """What there is to keep before an heir is born.

    Attributes:
        entries: Entries that each take the place of one of either archive.
        left: How many near-duplicates were left as they are, as there were too many.
        rejected: Those of which nothing of use was made.
    """

    entries: tuple[Learnt, ...] = ()
    left: int = 0
    rejected: tuple[RejectedProposal, ...] = ()


async def heritage(episode: Episode, path: str, first: str, second: str) -> Heritage:
    """Fuse what two agents know twice, in other words: the most alike first, side by side.

    Args:
        path: Where its questions are: `task 12/lifecycle/1 merge/`.
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
    """Find near-duplicates between two archives, the most alike first; each entry in one pair."""
    rows = sorted(_similar(episode, first, second), key=lambda near: (-near[2], near[0].id))
    pairs, used = list[tuple[Learnt, Learnt]](), set[str]()
    for mine, theirs, _ in rows:
        if not used & {mine.id, theirs.id}:
            used |= {mine.id, theirs.id}
            pairs.append((mine, theirs))
    return pairs


def _similar(episode: Episode, first: str, second: str) -> Iterator[tuple[Learnt, Learnt, float]]:
    """Yield entries of one archive with those of the other that say almost the same.

    What both have from a common ancestor is one entry already; and what this task has taught one of
    them may have taken the place of an earlier one.
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
    """Give what takes the place of two entries: the second one in other words, in both archives."""
    replaces = tuple(learnt.id for learnt in pair)
    return replace(pair[1], text=text, owner=None, to=owners, giver=None, replaces=replaces, id="")
