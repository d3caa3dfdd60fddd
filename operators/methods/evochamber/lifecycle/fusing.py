"""Fusing: a near-duplicate of an archive entry is merged with it (EvoChamber App. D).

Archives are unbounded, so a lesson that is learnt again must replace its earlier entry.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .....pool.ledger.learnt import Learnt
from .....runtime.values.together import together
from .....schema.edits.offer.strict import closed, free_text
from ....core.material import clip, fenced, material
from ....core.meta import Question, prompt
from ....core.operator import Operator, operator_of
from ....core.proposal import RejectedProposal
from ..wording import one_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....core.meta import OperatorModel
    from ....evolution.episode import Episode

OPERATOR = "fuse"
LONGEST_ENTRY = 400
"""The most characters of an entry: the default `room` of agents holds six entries."""


async def fuse(model: OperatorModel, path: str, earlier: str, new: str) -> str | RejectedProposal:
    """Ask for one text that merges two near-duplicates."""
    limits = model.limits
    longest = min(LONGEST_ENTRY, limits.characters)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, longest=longest),
        material=material(
            fenced("earlier", clip(earlier, limits.characters)),
            fenced("new", clip(new, limits.characters)),
        ),
        schema=closed(text=free_text(longest)),
        read=functools.partial(one_text, "text", longest, limits),
        inputs={"earlier": earlier, "new": new},
    )
    return await model.ask(path, question)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """The entry to keep for some agents.

    Attributes:
        entry: The entry, which may replace an earlier one.
        rejected: The reason why it was not fused with a near-duplicate; None if it was, or has
            none.
    """

    entry: Learnt
    owners: tuple[str, ...]
    rejected: RejectedProposal | None = None


async def settled(
    episode: Episode, entry: Learnt, owners: Sequence[str], path: str
) -> list[Settled]:
    """Fuse an entry with the near-duplicates in its owners' archives.

    Owners with the same near-duplicate share one question and its answer. If the answer is invalid,
    the new entry is kept beside the earlier one. If both texts are equal, the new one replaces the
    earlier one without a model call.
    """
    groups: dict[str, tuple[Learnt | None, list[str]]] = {}
    for owner in owners:
        near = _nearest(episode, entry, owner)
        groups.setdefault(near.id if near else "", (near, []))[1].append(owner)
    return await together(
        *(
            _with_earlier(episode, entry, near, tuple(of), f"{path}/{number}")
            for number, (near, of) in enumerate(groups.values(), 1)
        )
    )


async def _with_earlier(
    episode: Episode, entry: Learnt, near: Learnt | None, owners: tuple[str, ...], path: str
) -> Settled:
    if near is None:
        return Settled(entry=entry, owners=owners)
    text: str | RejectedProposal = entry.text
    if near.text != entry.text:
        text = await operator_of(OPERATOR).act(episode.meta_model, path, near.text, entry.text)
    if isinstance(text, RejectedProposal):
        return Settled(entry=entry, owners=owners, rejected=text)
    return Settled(entry=replace(entry, text=text, replaces=(near.id,)), owners=owners)


def _nearest(episode: Episode, entry: Learnt, owner: str) -> Learnt | None:
    """Return the nearest near-duplicate in an owner's archive, of the same kind and niche."""
    over, view = episode.settings.dedup, episode.view
    coming = [learnt for learnt in _coming(episode) if owner in learnt.owners]
    old_ids = {old for learnt in coming for old in learnt.replaces}
    pairs = view.alike(entry.text, owner, kind=entry.kind, niche=entry.niche, over=over)
    if view.memory is not None:
        likeness = view.memory.likeness(entry.text, [learnt.text for learnt in coming])
        pairs += [
            (learnt, like) for learnt, like in zip(coming, likeness, strict=True) if like > over
        ]
    near = [
        (like, learnt)
        for learnt, like in pairs
        if (learnt.kind, learnt.niche) == (entry.kind, entry.niche) and learnt.id not in old_ids
    ]
    return min(near, key=lambda pair: (-pair[0], pair[1].id), default=(0.0, None))[1]


def _coming(episode: Episode) -> list[Learnt]:
    """Return the entries that the episode will keep."""
    return [
        replace(change, id=episode.op(what))
        for change, what in episode.changes
        if isinstance(change, Learnt)
    ]


FUSE = Operator(
    name=OPERATOR,
    scale="agent",
    act=fuse,
    about="Let a model merge two texts that say almost the same.",
    inputs={"earlier": "earlier_text", "new": "new_text"},
    gives="words",
)
