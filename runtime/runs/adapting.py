"""The interface of code that adapts a team while it works on a task, instead of one execution.

The implementation is in a higher layer. It is found through the entry point `recipe` of the group
`coterie.adapters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from ...schema.host.catalogue import installed, load_named
from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ...schema.host.catalogue import Catalogue
    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..agents.outcomes import Run
    from ..plan.plan import Plan
    from ..record.trace import Trace
    from ..scrubbing.scrubber import Scrubber
    from ..values.budget import Budget
    from .record import RunRecord
    from .services import Services

GROUP, ENTRY = "adapters", "recipe"
RECIPE = "adapt.yaml"
"""The file of a run's folder with the recipe by which its team adapts."""


class Adapting(Protocol):
    """Adapts the team of one run.

    * Must call models, and run agents, through the given services and journal. Their paths must not
      depend on scheduling, so that a resumed or replayed run has the same result.
    * Must return a result for everything that a run may meet: a limit, a failure of a model.
    """

    @property
    def name(self) -> str:
        """The name of its strategy."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """The files, by name, that a run's folder needs to repeat the run."""
        ...

    @property
    def models(self) -> Mapping[str, Model]:
        """The models that it may call besides those of the plan, by alias."""
        ...

    def calls_at_most(self, plan: Plan) -> int | None:
        """Return the most model calls of a run, including its own; None if unknown."""
        ...

    async def run(
        self,
        plan: Plan,
        task: Task,
        services: Services,
        *,
        record: RunRecord,
        scrubber: Scrubber,
        trace: Trace,
        budget: Budget | None,
    ) -> Run:
        """Make the run.

        Raises:
            StorageError: The record can no longer be written.
        """
        ...


Adapter: TypeAlias = "Callable[[Path, Team, Catalogue], Adapting]"
"""Loads the recipe by which teams adapt, and reports all its problems before anything is spent."""


def adapting(recipe: Path, team: Team, catalogue: Catalogue) -> Adapting:
    """Load the code that adapts a team by a recipe.

    Raises:
        InputError: No installed package does, or the recipe does not load.
    """
    if ENTRY not in installed(GROUP):
        raise InputError("no installed package adapts teams: the group coterie.adapters is empty.")
    return cast("Adapter", load_named(GROUP, ENTRY))(recipe, team, catalogue)
