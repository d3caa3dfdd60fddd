"""Fusing: two entries of an archive that say almost the same become one (EvoChamber App. D)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...schema.terminal import on_one_line
from ..answers import Unfit, closed, structured
from ..material import clip, fenced, material
from ..meta import Question, prompt
from ..operator import Operator

if TYPE_CHECKING:
    import click

    from ..bounds import Bounds
    from ..meta import Respondent
    from ..proposal import Dropped

__all__ = ["FUSE", "LONGEST_ENTRY", "fuse"]

OPERATOR = "fuse"
LONGEST_ENTRY = 400
"""Characters of an entry, at most: six of them fit into the room that agents have for them."""


async def fuse(meta: Respondent, path: str, earlier: str, new: str) -> str | Dropped:
    """Make one text of two that say almost the same.

    Args:
        meta: Who is asked.
        path: Which two these are: `task 12/fuse/lesson of solver_3`.
        earlier: The one that was there.
        new: The one that is to be added.

    Raises:
        CoterieError: As for `Respondent.ask`.
    """
    limits = meta.limits
    longest = min(LONGEST_ENTRY, limits.characters)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, longest=longest),
        material=material(
            fenced("earlier", clip(earlier, limits.characters)),
            fenced("new", clip(new, limits.characters)),
        ),
        schema=closed(text={"type": "string", "minLength": 1, "maxLength": longest}),
        read=functools.partial(_read, longest, limits),
    )
    return await meta.ask(path, question)


def _read(longest: int, bounds: Bounds, text: str) -> str:
    """Read a text; what is longer than its room is cut."""
    said = on_one_line(structured(text, closed(text={"type": "string"}), bounds)["text"])
    if not any(map(str.isalnum, said)):
        raise Unfit("text: nothing is said there. Write what both texts say.")
    return said[:longest]


def _command() -> click.Command:
    from ..command.learning import fuse_texts

    return fuse_texts


FUSE = Operator(
    name=OPERATOR,
    scale="agent",
    act=fuse,
    about="Make one of two texts that say almost the same.",
    command=_command,
)
