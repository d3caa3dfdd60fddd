"""One part of a whole cut into several, such as `3/8`: the third of eight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from .errors import InputError
from .problems import quoted

T = TypeVar("T")
_PART = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One of several parts, whose sizes differ by at most one.

    Attributes:
        which: Its number, from 1.
    """

    which: int
    of: int

    @classmethod
    def read(cls, text: str, option: str) -> Self:
        """Parse the value of an option.

        Raises:
            InputError: It is no part.
        """
        result = _PART.fullmatch(text)
        if result is None or int(result[1]) > int(result[2]):
            raise InputError(
                f"{option} {quoted(text)} is invalid. Write for instance 3/8, the third of eight."
            )
        return cls(which=int(result[1]), of=int(result[2]))

    def __str__(self) -> str:
        return f"{self.which}/{self.of}"

    def take(self, items: Sequence[T]) -> list[T]:
        """Return every `n`th item from this part's first on, where `n` is the number of parts.

        Raises:
            InputError: There are fewer items than parts.
        """
        if self.of > len(items):
            raise InputError(
                f"part {self}: there are only {len(items)} tasks. Make as many parts at most."
            )
        return list(items[self.which - 1 :: self.of])
