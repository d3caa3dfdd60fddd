"""Whether a fixed budget has room for one more task, and for the calls after the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...runtime.values.usage import Usage
from .lines import consumed_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runtime.values.budget import Caps


def has_room(caps: Caps, lines: Sequence[Mapping[str, Any]], *, tasks: int, calls: int) -> bool:
    """Return whether a budget has room for more tasks, and for calls after the last of them.

    A task is taken to cost as much as the dearest so far, and a call as much as one of that task's.
    Durations cannot be predicted, so a cap on seconds always has room.

    Args:
        lines: The finished tasks, at least one.
    """
    past = [sum(consumed_by(line), Usage()) for line in lines]
    for unit in ("calls", "tokens", "usd"):
        if (cap := getattr(caps, unit)) is None:
            continue
        spent = [getattr(usage, unit) for usage in past]
        call = max(getattr(usage, unit) / max(1, usage.calls) for usage in past)
        if sum(spent) + tasks * max(spent) + calls * call > cap:
            return False
    return True
