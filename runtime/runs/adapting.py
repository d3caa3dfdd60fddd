"""What adapts a team while it works on a task, in the place of one execution of it.

Whatever does so stands above this floor; it is found by the entry point `recipe` of the group
`coterie.adapters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from ...schema.host.catalogue import installed, load_named
from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
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
"""What a run's folder calls the recipe by which its team adapts."""


class Adapting(Protocol):
    """What adapts the team of one run.

    * Must ask models, and run agents, through the services and the journal that it is given, under
      paths that do not depend on scheduling: a run that is resumed or replayed comes to the same.
    * Must give a result for whatever a run may meet: a limit, a failure of a model.
    """

    @property
    def name(self) -> str:
        """What it is called: a strategy."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """The files that a run's folder keeps so that the run can be made again, by name."""
        ...

    @property
    def models(self) -> Mapping[str, Model]:
        """The models that it may ask beside those of the plan, by alias."""
        ...

    def calls_at_most(self, plan: Plan) -> int | None:
        """Bound the model calls of a run, its own as well; None where nobody knows."""
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

        Args:
            plan: The team that it begins with.
            services: Models, tools and jails.
            record: Where its journal and its files are kept.
            scrubber: Takes the host's secrets out of what is kept.
            budget: What it may cost, judges and all.

        Raises:
            StorageError: What happened can no longer be written down.
        """
        ...


class Adapter(Protocol):
    """Reads by which recipe teams adapt."""

    def __call__(self, recipe: Path, team: Team, catalogue: Catalogue) -> Adapting:
        """Read it, and find all that is wrong with it before anything is spent.

        Raises:
            InputError: Something is.
        """
        ...


def adapting(recipe: Path, team: Team, catalogue: Catalogue) -> Adapting:
    """Find what adapts a team by a recipe.

    Raises:
        InputError: Nothing that is installed does, or the recipe does not load.
    """
    if ENTRY not in installed(GROUP):
        raise InputError("no installed package adapts teams: the group coterie.adapters is empty.")
    return cast("Adapter", load_named(GROUP, ENTRY))(recipe, team, catalogue)
