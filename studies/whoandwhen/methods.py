"""All methods by name: the published baselines, and the schemes of `operators.blame`."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from coterie.operators.blame import SCHEMES, attribute
from coterie.operators.core.proposal import RejectedProposal

from .baselines import all_at_once, binary_search, step_by_step
from .verdicts import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.operators.blame import FailedRun, Scheme
    from coterie.operators.core.meta import OperatorModel


class Method(Protocol):
    """Says who failed in a trace, and at which step."""

    async def __call__(self, model: OperatorModel, path: str, trace: FailedRun, /) -> Told | None:
        """Blame somebody.

        Args:
            model: Who is asked.
            path: Which attribution this is; every question has its own path below it.
            trace: The failed run.

        Returns:
            Who is blamed; None where nobody is, or no answer was of use.

        Raises:
            CoterieError: As for `OperatorModel.ask`.
        """
        ...


async def _by_scheme(
    scheme: Scheme, model: OperatorModel, path: str, trace: FailedRun, /
) -> Told | None:
    result = await attribute(model, path, trace, scheme=scheme)
    return (
        None if isinstance(result, RejectedProposal) else Told(agent=result.agent, step=result.step)
    )


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "all-at-once": all_at_once,
        "step-by-step": step_by_step,
        "binary-search": binary_search,
        **{scheme: functools.partial(_by_scheme, scheme) for scheme in SCHEMES},
    }
)
"""Each method by its name."""
