"""What a strategy is, and how one is found: by its name in the group `coterie.strategies`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from markupsafe import Markup  # noqa: TC002 - PluginValue reads the fields' types

from ...pool.ledger.changes import Change
from ...pool.view import Fold
from ...runtime.values.caps import Caps
from ...runtime.values.usage import Usage
from ...schema.host.conforming import PluginValue
from ...schema.host.settings import find_strategy
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.recipe import DEFAULT_SEEDS
from ...schema.team.team import Agent, Team
from ...schema.values.errors import InputError
from ...schema.values.values import Json
from ..core.scoring import is_judged

if TYPE_CHECKING:
    from pathlib import Path

    from ...runtime.plan.plan import Plan
    from ...runtime.view import Links
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from .context import EvolutionContext
    from .episode import EarlierEpisodes, Episode
    from .stream import TaskStream

Need = Literal["teams", "children", "agents", "meta_model", "judge", "answers", "memory", "past"]
"""What a strategy may need:

* `teams`: the teams of the pool, which begins with the recipe's seeds and has to have some;
* `children`: room for teams that it makes: a ceiling that is higher than what the seeds ask for;
* `agents`: the agents of the pool;
* `meta_model`: that the recipe's meta-model can be asked;
* `judge`: that the recipe's judge can be asked, also where tasks have reference answers;
* `answers`: that every task has a reference answer;
* `memory`: what the pool has learnt, found by similarity;
* `past`: the lines of earlier episodes, which are then held in memory.
"""

Material = tuple[Any, Mapping[str, str]]
"""Settings, and the texts of the files that they name."""

NO_SETTINGS: Mapping[str, Any] = MappingProxyType({"type": "object", "additionalProperties": False})
"""The schema of a strategy that lets nothing be set."""


class SettingError(InputError):
    """A setting cannot be had here."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True, slots=True)
class NoSettings:
    """The settings of a strategy that lets nothing be set."""


class WholeStatus(Protocol):
    """The result of a strategy that works on all tasks together; its text is for people."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        ...

    @property
    def caps(self) -> Caps:
        """What it might spend. With more, it may resume."""
        ...

    @property
    def spending(self) -> Mapping[str, Usage]:
        """What was consumed, by purpose."""
        ...

    @property
    def deployed(self) -> str:
        """The pool's name of the team that it hands over; empty: the pool decides."""
        ...

    def value(self) -> Mapping[str, Any]:
        """Return it as a JSON object."""
        ...


async def _no_episode(_episode: Episode, /) -> None:
    raise TypeError("this strategy works on all tasks together.")


async def _no_more(_episode: Episode, _earlier: EarlierEpisodes, /) -> None:
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy(PluginValue):
    """A loop that says which operator acts when, on one task at a time.

    Attributes:
        episode: What it does with a task, where it takes one after the other. It

            * **must** report the result by `Episode.answered`, or raise;
            * **must** take chance from `Episode.chance` and model answers through the journal only,
              under paths that do not depend on scheduling;
            * **must** keep changes in an order that does not depend on scheduling either, and make
              none in any other way.
        before_commit: What it does with an episode once all earlier ones are committed: what it
            keeps then is committed with that episode. It **must** do the same when it is done
            again. It needs `past`.
        closing_calls: Bounds the calls that it makes before the last commit, given its settings,
            the lines of the tasks until then, and how many more tasks there will be. Where nobody
            raises the budget, the last task is the last one after which there is room for these
            calls. It needs `past`. None: nothing is lost where tasks end early.
        whole: What it does with all tasks together. It **must** take chance from the recipe's seed
            and model answers through the journal only, under paths that do not depend on
            scheduling, and leave its result in the evolution's folder.
        ceiling: What children of a team may ask for, where the recipe has no policy. None: what the
            seeds ask for together.
        status: Reads its result until now from the evolution's folder, where it works on all tasks
            together; None where it did not begin.
        page: Writes its part of the evolution's page, given what `status` reads, the page's links,
            and the names of the pool's teams, which have pages of their own.
        begin: Gives what is to happen to the pool before the first task: its first agents. It
            **must** give the same whenever it is asked.
        settings: Makes its settings, mostly their type; see `schema.host.settings.Configurable`.
        schema: Their JSON Schema.
        check: Says what is wrong with them that no schema can say, by the field.
        check_recipe: Says what is wrong with them beside the other fields of the recipe, by the
            field of the settings.
        suits: Says what is wrong with them beside the teams and the agents of the pool that are not
            retired, by the field; of a new pool, its seeds, and no agents.
        seeds: The teams that a new pool begins with where the recipe has none.
        agents: Gives the agents that a pool without any begins with, given the settings and the
            recipe's folder. What they ask for may be asked for. Raises `InputError`.
        teams: Gives the teams that it makes of those of the pool and of its agents, given the
            settings: what they ask for may be asked for, and not what those of the pool do. Raises
            `InputError`. None: teams of the pool are run as they are.
        needs: Says what it needs, given its settings.
        keeps: Names, given its settings, the kinds of entries that it keeps for agents to recall: a
            pool none of whose agents recalls any is refused.
        fold: Gives, by its settings, what it wants to know of the pool before the first line of
            the ledger. An episode finds its result in `PoolView.folded`. None: nothing.
        leaves_team: Whether its result is a team of the pool, which a test runs unchanged.
            Else a test is of the strategy, with all that its pool has learnt. The control of a test
            is the team, or the strategy, in the pool as it was before the first task.
        control: What it does with a task as the control of a test, where it adapts to a task beside
            what the pool has learnt. None: the same as otherwise.
        scaffold: Whether it evolves one team, the pool's head, whose folder `scaffold/` then is.
        reuses: Whether it says of whose run on the task a team's goes on: see `Recipe.reuse`.
        find: Finds the files that its settings name, relative to the recipe's folder, and checks
            them: gives them by name, and the settings that name them so. Raises `InputError`, of
            one that is not there `SettingError`.
        foretells: Says in a line, given its settings, what happens on a task; empty: nothing that a
            name would not tell.
        calls_at_most: Bounds the model calls of one task, given its settings and the plan that it
            begins with: those of agents and those of operators. None: nobody knows.
    """

    name: str
    episode: Callable[[Episode], Awaitable[None]] = _no_episode
    before_commit: Callable[[Episode, EarlierEpisodes], Awaitable[None]] = _no_more
    closing_calls: Callable[[Any, Sequence[Mapping[str, Any]], int], int] | None = None
    whole: Callable[[TaskStream], Awaitable[object]] | None = None
    ceiling: Callable[[Team], CapabilityPolicy] | None = None
    status: Callable[[Path], WholeStatus | None] = lambda _folder: None
    page: Callable[[Any, Links, Container[str]], Markup | str] = lambda *_: ""
    begin: Callable[[EvolutionContext], Iterable[Change]] = lambda _stage: ()
    settings: Callable[..., Any] = NoSettings
    schema: Mapping[str, Json] = field(default_factory=lambda: NO_SETTINGS)
    check: Callable[[Any, Mapping[str, Any]], Mapping[str, str]] = lambda *_: {}
    check_recipe: Callable[[Recipe], Mapping[str, str]] = lambda _recipe: {}
    suits: Callable[[Any, Sequence[Team], Sequence[Agent]], Mapping[str, str]] = lambda *_: {}
    seeds: tuple[str, ...] = DEFAULT_SEEDS
    agents: Callable[[Any, Path, Catalogue], Sequence[Agent]] = lambda *_: ()
    teams: Callable[[Any, Sequence[Team], Sequence[Agent], Catalogue], Iterable[Team]] | None = None
    needs: Callable[[Any], Collection[Need]] = lambda _settings: frozenset()
    keeps: Callable[[Any], Collection[str]] = lambda _settings: frozenset()
    fold: Callable[[Any], Fold | None] = lambda _settings: None
    leaves_team: bool = False
    control: Callable[[Episode], Awaitable[None]] | None = None
    scaffold: bool = False
    reuses: bool = False
    find: Callable[[Any, Path, Catalogue], Material] = lambda settings, *_: (settings, {})
    foretells: Callable[[Any], str] = lambda _settings: ""
    calls_at_most: Callable[[Any, Plan], int] | None = None


def strategy_of(name: str) -> Strategy:
    """Find a strategy by the name that recipes write.

    Raises:
        InputError: No installed package gives it, it cannot be imported, or it is none.
    """
    configurable = find_strategy(name)
    if not isinstance(configurable, Strategy):
        raise InputError(
            f"{name!r} of coterie.strategies does not lead to a Strategy, but to a"
            f" {type(configurable).__name__}."
        )
    return configurable


def asked_models(recipe: Recipe, tasks: Iterable[Task]) -> frozenset[str]:
    """Name the aliases of the models that operators and the judge may ask.

    Those that agents ask are not among them: they follow from the teams.
    """
    names: set[str] = set()
    needs = strategy_of(recipe.strategy).needs(recipe.settings)
    if "judge" in needs or any(is_judged(recipe, task) for task in tasks):
        names.add(recipe.judge_model or recipe.meta_model)
    if "meta_model" in needs:
        names.add(recipe.meta_model)
    return frozenset(names)
